/// The reports that a store makes of its operations and of what it holds: a namespace.
public enum Report {}
