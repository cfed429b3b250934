/// What a store tells of an operation, or of what it holds: a namespace.
public enum Report {}
