import ArgumentParser
import Esker
import Foundation

struct Watch: StoreCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Show what a store in use is doing.",
    discussion: """
      Shows rates, latencies, segments and merges, again and again, until ctrl-C. They come from the process that has the store \
      open for writing, if it publishes them (Options.statisticsInterval; "esker load" does). Otherwise it shows what it can \
      see by following the log: keys, space and writes. Counts of gets are estimates: one in 128 is timed.

      --html shows it in a page instead, which needs no server: the file is replaced at each update, and reloads itself in a \
      browser. --prometheus answers GET /metrics instead, with the text of "esker stats --format prometheus", at a port of 127.0.0.1, or at \
      the address given as host:port.

      If standard output is not a terminal, prints a line each time; with --json, an object.

      Examples:
        esker watch cities.esker
        esker watch cities.esker --json --interval 10s | jq .writesPerSecond
        esker watch cities.esker --html cities.html --interval 5s
        esker watch cities.esker --prometheus 9100
      """
  )

  @OptionGroup var store: StoreArguments

  @Option(help: ArgumentHelp("How often to update, \(TimeToLive.help).", valueName: "duration"))
  var interval = TimeToLive(seconds: 1)

  @Option(help: ArgumentHelp("End after this many updates.", valueName: "count"))
  var count: Int?

  @Flag(help: "Print JSON.")
  var json = false

  @Option(
    help: ArgumentHelp("Show it in this file, a page that reloads itself, instead.", valueName: "file"),
    completion: .file(extensions: ["html"])
  )
  var html: String?

  @Option(
    help: ArgumentHelp("Answer Prometheus at this address, as in 9100 or 0.0.0.0:9100.", valueName: "address")
  )
  var prometheus: MetricsAddress?

  func validate() throws {
    if prometheus != nil, json || count != nil || html != nil {
      throw ValidationError("--prometheus goes without --json, --html and --count.")
    }
    if html != nil, json { throw ValidationError("--html and --json say two things about what to print.") }
    if let count, count < 1 { throw ValidationError("--count takes a number of at least 1.") }
  }

  func run() throws {
    try store.require()
    Interruption.install()
    if let prometheus { try serve(at: prometheus) } else { try show() }
    // Ctrl-C is the normal way to end a watch, and so a success.
    if let signal = Interruption.signalNumber, signal != SIGINT { throw ToolError.interrupted(signal: signal) }
  }

  private func serve(at address: MetricsAddress) throws {
    let followed = FollowedStore(path: store.store)
    try followed.withStore { _ in }
    let server = try MetricsServer(at: address) { try followed.withStore { StatisticsReport.prometheus(of: $0) } }
    defer { server.stop() }
    if !store.quiet { StandardError.write("answering at http://\(server.address.text)/metrics until ctrl-C\n") }
    while Interruption.sleep(.seconds(3600)) {}
  }

  private func show() throws {
    let followed = FollowedStore(path: store.store)
    var screen = LiveScreen()
    var output = BufferedOutput.standard()
    let isLive = !json && LiveScreen.isPossible
    var last: StoreSample?
    var rates: StoreRates?
    var history = WatchHistory()
    var looks = 0
    var page: WatchPage?
    if let html {
      try WatchPage.require(at: html)
      if !store.quiet { StandardError.write("writing \(html) until ctrl-C\n") }
    }
    repeat {
      let sample = try followed.sample()
      // The same figures again: the other process has not published since.
      if let last, last.seconds != sample.seconds || last.source != sample.source {
        rates = StoreRates(from: last, to: sample)
        history.add(rates, of: sample)
      }
      last = sample
      var report = WatchReport(path: store.store, sample: sample, rates: rates, time: Options.Clock.system.now())
      report.history = history
      if let html {
        page = WatchPage(report, reloadingAfter: interval.duration)
        try page?.write(to: html)
      } else if isLive {
        try screen.show(report.screen)
      } else {
        if json { try output.write(report.json) } else { try output.write(report.line + "\n") }
        try output.flush()
      }
      looks += 1
    } while looks < count ?? .max && Interruption.sleep(interval.duration)
    // What stays reloads no more.
    page?.isLast = true
    if let html { try page?.write(to: html) }
  }
}
