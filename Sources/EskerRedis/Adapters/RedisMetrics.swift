#if Redis
  internal import CoreMetrics

  /// The figures of nodes as metrics, each with the node's address.
  ///
  /// Safety: used by the client's loop alone.
  final class RedisMetrics: @unchecked Sendable {
    private let factory: any MetricsFactory
    private var meters: [String: Meter] = [:]
    private var totals: [String: (counter: Counter, last: Int)] = [:]

    init(_ factory: any MetricsFactory) { self.factory = factory }

    func report(_ nodes: [RedisNodeStatistics]) {
      for node in nodes {
        set("lease_left_seconds", node, Double(node.leaseLeft / .milliseconds(1)) / 1_000)
        set("domains", node, Double(node.domains))
        set("in_flight", node, Double(node.inFlight))
        set("queued", node, Double(node.queued))
        if let trip = node.roundTrip { set("round_trip_seconds", node, Double(trip / .microseconds(1)) / 1_000_000) }
        count("requests", node, node.counters.requests)
        count("replies", node, node.counters.replies)
        count("pushes", node, node.counters.pushes)
        count("raised", node, node.counters.raised.values.reduce(0, +))
        count("suspensions", node, node.counters.suspensions)
        count("redirects", node, node.counters.redirects)
        count("skipped", node, node.counters.skipped)
        count("connections", node, node.counters.connections)
      }
    }

    private func set(_ name: String, _ node: RedisNodeStatistics, _ value: Double) {
      let key = "\(name) \(node.address)"
      let meter =
        meters[key] ?? Meter(label: "esker_redis_\(name)", dimensions: [("server", node.address)], factory: factory)
      meters[key] = meter
      meter.set(value)
    }

    private func count(_ name: String, _ node: RedisNodeStatistics, _ total: Int) {
      let key = "\(name) \(node.address)"
      let (counter, last) =
        totals[key] ?? (
          Counter(label: "esker_redis_\(name)", dimensions: [("server", node.address)], factory: factory), 0
        )
      if total > last { counter.increment(by: Int64(total - last)) }
      totals[key] = (counter, total)
    }
  }
#endif
