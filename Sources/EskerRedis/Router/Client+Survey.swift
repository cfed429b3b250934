#if Redis
  internal import EskerRemote
  internal import Logging

  /// The question to all nodes who owns what, while it is under way.
  final class Survey {
    let beganAt = RemoteInstant.now
    let asked: Int
    var answered = 0
    var views: [[ClusterNode]] = []

    init(asked: Int) { self.asked = asked }
  }

  extension Client {
    private static let surveyPause = Duration.milliseconds(100)
    private static let surveyTime = Duration.milliseconds(500)
    /// How long the rest is waited for when a majority has answered.
    private static let surveyRest = Duration.milliseconds(50)

    /// Asks all nodes, unless that is under way or was a moment ago.
    func beginSurvey(isUrgent: Bool = false) {
      guard needsSurvey, survey == nil, !isStopped else { return }
      let now = RemoteInstant.now
      guard isUrgent || now >= lastSurvey.advanced(by: Self.surveyPause) else { return }
      let targets = nodes.compactMap(\.ready)
      if targets.isEmpty { wantSeeds() }
      guard !targets.isEmpty else { return }
      needsSurvey = false
      lastSurvey = now
      if mode == .server {
        for main in targets { confirm(main.node, now, isUrgent: true) }
        return
      }
      let survey = Survey(asked: targets.count)
      self.survey = survey
      for main in targets {
        main.control(RESPCommand("CLUSTER", "NODES")) { [weak self] reply in
          guard let self, self.survey === survey else { return }
          survey.answered += 1
          if let view = reply.text.flatMap({ ClusterNode.parse($0, asked: main.node.address) }) {
            survey.views.append(view)
            main.node.id = view.first(where: \.isMyself)?.id
          }
          if survey.answered == survey.asked { endSurvey(survey) }
        }
      }
      for main in targets { main.flush() }
    }

    /// Ends a question whose time is over.
    func checkSurvey(_ now: RemoteInstant) {
      guard let survey else { return }
      let isLate = now >= survey.beganAt.advanced(by: Self.surveyTime)
      let isEnough = now >= survey.beganAt.advanced(by: Self.surveyRest) && ClusterVote(survey.views).isMajority
      if isLate || isEnough { endSurvey(survey) }
    }

    /// Without a node to ask, tries every address that was ever known.
    private func wantSeeds() {
      for index in seeds { nodes[index].isWanted = true }
      for address in Set(nodes.flatMap(\.replicas)) { node(at: address).isWanted = true }
    }

    private func endSurvey(_ survey: Survey) {
      self.survey = nil
      let vote = ClusterVote(survey.views)
      // Those that were found are asked next time, whatever the majority says.
      for id in vote.primaries where !vote.failed.contains(id) {
        if let address = vote.addresses[id] {
          let node = node(at: address)
          node.isWanted = true
          node.id = node.id ?? id
        }
      }
      guard vote.isMajority else {
        needsSurvey = true
        return
      }
      adopt(vote)
      for node in nodes {
        guard let main = node.ready, node.readyAt <= survey.beganAt, node.isWanted, let id = node.id else { continue }
        guard !vote.failed.contains(id), vote.primaries.contains(id) else { continue }
        if node.epoch == nil || !node.isConfirmed { node.epoch = vote.epochs[id] }
        confirm(node, .now)
        main.flush()
      }
      if nodes.contains(where: { $0.isWanted && $0.ready != nil && !$0.isConfirmed }) { needsSurvey = true }
    }

    private func confirm(_ node: Node, _ now: RemoteInstant, isUrgent: Bool = false) {
      let lacksLease = node.slots.contains { range in range.contains { table.lease($0) == 0 } }
      guard !node.isConfirmed || lacksLease else { return }
      if !node.isConfirmed { node.confirmedAt = now }
      sendHeartbeat(node)
      if isUrgent { node.main?.flush() }
    }

    /// Takes over what a majority says.
    private func adopt(_ vote: ClusterVote) {
      var places: [String: Int] = [:]
      for id in vote.primaries { if let address = vote.addresses[id] { places[id] = node(at: address).index } }
      let known = Set(vote.addresses.keys)
      var changed: [Int] = []
      for slot in 0..<table.count {
        guard let claim = vote.claims[slot], let place = places[claim.id] else {
          if table.setOwner(slot, -1, epoch: table.epoch(slot)) { changed.append(slot) }
          continue
        }
        // An old answer, unless the owner that was known is gone altogether.
        if claim.epoch < table.epoch(slot), table.owner(slot) >= 0, let owner = nodes[table.owner(slot)].id,
          known.contains(owner)
        {
          continue
        }
        if table.setOwner(slot, place, epoch: claim.epoch) { changed.append(slot) }
      }
      changed = Set(changed).union(table.setMoving(vote.moving)).sorted()
      for node in nodes {
        node.slots = table.ranges(of: node.index)
        node.heartbeatKey = node.slots.first.map { "#hb:{\(word(in: UInt16($0.lowerBound)))}" }
      }
      // Before the notifications of connections that are closed because of it.
      if !changed.isEmpty {
        logger.info("topology changed", metadata: ["slots": "\(changed.count)", "primaries": "\(places.count)"])
        raise(changed, "topology")
      }
      let ids = Dictionary(places.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
      for node in nodes {
        if let id = ids[node.index] {
          node.id = id
          node.replicas = vote.replicas[id] ?? []
        } else if node.isWanted {
          node.isWanted = false
          node.main?.close("not a primary")
        }
      }
      publish()
    }

    private func word(in slot: UInt16) -> String {
      if let word = heartbeatWords[slot] { return word }
      let word = HashSlot.word(in: slot)
      heartbeatWords[slot] = word
      return word
    }
  }
#endif
