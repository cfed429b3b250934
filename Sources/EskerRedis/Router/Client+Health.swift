#if Redis
  internal import EskerRemote

  extension Client {
    func health() -> RedisHealth {
      let now = RemoteInstant.now
      noteStatus(now)
      let wanted = isStopped ? [] : nodes.filter(\.isWanted)
      return RedisHealth(
        status: status.status,
        since: status.since,
        servers: wanted.count,
        connected: wanted.count { $0.ready != nil },
        leased: wanted.count { $0.leaseUntil > now },
        refusal: wanted.contains(where: \.isRefusing) ? lastError : nil
      )
    }

    /// Notes when the status changes.
    func noteStatus(_ now: RemoteInstant) {
      var leased = 0
      for node in nodes where node.leaseUntil > now { for range in node.slots { leased += range.count } }
      let present: RedisHealth.Status =
        isStopped || leased == 0 ? .unavailable : leased < table.count ? .degraded : .available
      if present != status.status { status = (present, .now) }
    }
  }
#endif
