import EskerLog
import EskerPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Uses stores for long, and looks whether anything grows: see `SoakLoad` and `SoakFigure`.
struct Soak {
  private let settings: SoakSettings

  init(_ settings: SoakSettings) {
    self.settings = settings
  }

  func run() {
    #if os(Linux)
      do {
        StandardStreams.say("soak: seed \(settings.seed), \(settings.seconds) s")
        let load = try SoakLoad(seed: settings.seed)
        var samples: [[Double]] = []
        try load.run {
          var probe = SoakProbe(load.directory.path, load.log)
          let start = ContinuousClock.now
          var next = start
          while ContinuousClock.now - start < .seconds(settings.seconds), load.problems.isEmpty {
            next += .seconds(settings.interval)
            while ContinuousClock.now < next { pauseThread(microseconds: 10_000) }
            samples.append(try probe.sample())
          }
        }
        try load.close()
        if let path = settings.samples { writeSamples(samples, to: path) }
        let report = SoakReport(samples)
        StandardStreams.say(report.text)
        for problem in load.problems { StandardStreams.say("found: \(problem)") }
        exitProcess(load.problems.isEmpty && report.isFlat ? 0 : 1)
      } catch {
        StandardStreams.complain("the soak could not be run: \(error)")
        exitProcess(3)
      }
    #else
      StandardStreams.complain("a soak counts what Linux shows in /proc")
      exitProcess(2)
    #endif
  }

  private func writeSamples(_ samples: [[Double]], to path: String) {
    let titles = ["seconds"] + SoakFigure.allCases.map { $0.title.replacing(", ", with: " ") }
    let rows = samples.enumerated().map { number, sample in
      ([Double((number + 1) * settings.interval)] + sample).map { "\($0)" }.joined(separator: ",")
    }
    let text = ([titles.joined(separator: ",")] + rows).map { $0 + "\n" }.joined()
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard file >= 0 else { return StandardStreams.complain("no samples in \(path): \(PlatformError.message(errno))") }
    defer { close(file) }
    writeWhole(Array(text.utf8), to: file)
  }
}

/// Whether figures stay as they were. What the first quarter shows is left out: stores fill up in it.
struct SoakReport {
  private(set) var text: String
  private(set) var isFlat = true

  init(_ samples: [[Double]]) {
    guard samples.count >= 8 else {
      text = "too few samples to compare: take more seconds"
      isFlat = false
      return
    }
    var lines = ["                  early      late"]
    let quarter = samples.count / 4
    for figure in SoakFigure.allCases {
      let values = samples.map { $0[figure.rawValue] }
      let early = Self.median(values[quarter..<2 * quarter])
      let late = Self.median(values[(values.count - quarter)...])
      var verdict = ""
      if let slack = figure.slack, late > early * 1.1 + slack {
        isFlat = false
        verdict = "  GROWS"
      }
      lines.append(
        [Self.padded(figure.title, -14), Self.padded(early), Self.padded(late), Self.curve(values) + verdict]
          .joined(separator: " ")
      )
    }
    text = lines.joined(separator: "\n")
  }

  private static func median(_ values: ArraySlice<Double>) -> Double { values.sorted()[values.count / 2] }

  private static func padded(_ number: Double) -> String {
    padded("\((number * 10).rounded() / 10)", 9)
  }

  /// With spaces in front, or with a negative width behind.
  private static func padded(_ text: String, _ width: Int) -> String {
    let spaces = String(repeating: " ", count: max(0, abs(width) - text.count))
    return width < 0 ? text + spaces : spaces + text
  }

  /// Sixty medians, drawn from nothing to the greatest.
  private static func curve(_ values: [Double]) -> String {
    let marks = Array(" ▁▂▃▄▅▆▇█")
    let count = min(60, values.count)
    let medians = (0..<count).map { median(values[$0 * values.count / count..<($0 + 1) * values.count / count]) }
    let top = max(medians.max() ?? 0, .leastNormalMagnitude)
    return String(medians.map { marks[Int(($0 / top * 8).rounded(.up))] })
  }
}
