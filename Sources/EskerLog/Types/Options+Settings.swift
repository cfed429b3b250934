package import EskerFormat

extension Options {
  /// What a store remembers of its options: an opening that says nothing of them finds them unchanged.
  public struct Settings: Sendable, Hashable {
    /// The durability of writes that do not specify one.
    public var durability: Durability
    /// The expiry of a value if neither the call nor the keyspace specifies one.
    public var defaultExpiry: Expiry
    /// The size in bytes up to which a segment file grows.
    public var segmentSize: Int
    /// How values are compressed when segments are merged.
    public var compression: Options.Compression
    /// The most bytes that the store's files may take together; nil for no limit.
    public var capacity: Int?

    /// The settings of a new store for which no option was chosen.
    public init() { self.init(StoredSettings()) }

    package init(_ stored: StoredSettings) {
      durability =
        switch stored.durability {
        case .buffered: .buffered
        case .synced: .synced
        case .periodic: .periodic(.nanoseconds(Int64(clamping: stored.period)))
        }
      defaultExpiry =
        switch stored.expiry {
        case .never: .never
        case .after: .after(.milliseconds(stored.expiryMilliseconds))
        case .at: .at(WallTime(millisecondsSince1970: stored.expiryMilliseconds))
        }
      segmentSize = Int(clamping: stored.segmentSize)
      compression = stored.compression == .none ? .off : .lz4(level: Int(stored.level))
      capacity = stored.capacity == 0 ? nil : Int(clamping: stored.capacity)
    }

    /// The settings that an opening for writing with the given options records. A reader's options change nothing.
    func changed(by options: Options) -> Options.Settings {
      var settings = self
      guard !options.readOnly else { return settings }
      settings.durability = options.durability ?? durability
      settings.defaultExpiry = options.defaultExpiry ?? defaultExpiry
      settings.segmentSize = options.segmentSize ?? segmentSize
      settings.compression = options.compression ?? compression
      if let capacity = options.capacity { settings.capacity = capacity == .max ? nil : capacity }
      return settings
    }
  }
}

extension Options {
  /// The same options, with the settings of another store where they say nothing.
  package func completed(by settings: Options.Settings) -> Options {
    var options = self
    let settings = settings.changed(by: self)
    options.durability = settings.durability
    options.defaultExpiry = settings.defaultExpiry
    options.segmentSize = settings.segmentSize
    options.compression = settings.compression
    options.capacity = settings.capacity ?? .max
    return options
  }
}

extension StoredSettings {
  package init(_ settings: Options.Settings) {
    self.init()
    switch settings.durability {
    case .buffered: durability = .buffered
    case .synced: durability = .synced
    case .periodic(let time):
      durability = .periodic
      period = min(time.wholeNanoseconds, UInt64(Int64.max))
    }
    switch settings.defaultExpiry {
    case .never: expiry = .never
    case .after(let time):
      expiry = .after
      expiryMilliseconds = time.wholeMilliseconds
    case .at(let instant):
      expiry = .at
      expiryMilliseconds = instant.millisecondsSince1970
    }
    segmentSize = UInt64(clamping: settings.segmentSize)
    if let chosen = settings.compression.level {
      compression = .lz4
      level = UInt8(clamping: chosen)
    }
    capacity = settings.capacity.map { UInt64(clamping: $0) } ?? 0
  }
}
