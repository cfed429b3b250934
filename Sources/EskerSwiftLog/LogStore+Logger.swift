#if SwiftLog
  public import Esker
  public import Logging

  extension LogStore {
    /// Opens the store at `path`, or creates it, and logs its events; see `LogStore.init(at:options:)` and
    /// `Options.logEvents(to:)`. Every entry has the path in its metadata, as `store`.
    ///
    /// - Throws: What opening throws; this is logged too, as an error.
    public convenience init(
      at path: String,
      options: Options = Options(),
      logger: Logger
    ) throws(StoreError) {
      var logger = logger
      logger[metadataKey: "store"] = "\(path)"
      var options = options
      options.logEvents(to: logger)
      do throws(StoreError) {
        try self.init(at: path, options: options)
      } catch {
        logger.error("store cannot be opened", metadata: ["error": "\(error.textForLog)"])
        throw error
      }
    }
  }

  extension Options {
    /// Logs the events of stores opened with these options, in addition to what `onEvent` already does.
    ///
    /// | Level | Events |
    /// |---|---|
    /// | critical | a sync failed, so the store refuses writes |
    /// | error | damage was found |
    /// | warning | records that never became durable were cut off, work in the background failed, the clock jumped |
    /// | notice | the store was recovered after a crash |
    /// | info | opened, closed, a merge ended |
    /// | debug | segments sealed, merges begun, records evicted, checkpoints written |
    ///
    /// Keys and values are never logged: damage is identified by segment and offset.
    ///
    /// The logger is called on the thread that delivers the event, with no lock of the store held. Its handler must return
    /// quickly and must not close the store; one that waits for a network should do so on a thread of its own.
    public mutating func logEvents(to logger: Logger) {
      let before = onEvent
      onEvent = { event in
        before?(event)
        logger.log(event)
      }
    }
  }
#endif
