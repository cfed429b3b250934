import Esker
import Foundation
import Testing

@Suite struct BadInputTests {
  @Test(arguments: [TierPolicy.Set.frontFirst, .backFirst, .backOnly])
  func numberThatJSONCannotWriteChangesNothingInAnyTier(strategy: TierPolicy.Set) throws {
    try withTemporaryStore { store in
      let front = DictionaryStorage<String, Double>()
      let back = try store.storage("heights", transformer: Transformer<Double>.json)
      let both = front.combined(with: back, setStrategy: strategy)
      try both.set(1.5, forKey: "a")
      let inFront = front.all
      let before = store.lastSequence
      for value in [Double.nan, .infinity] {
        guard case .encoding(view: "heights", _, _) = failure(of: { try both.set(value, forKey: "a") }) else {
          Issue.record("stored \(value)")
          return
        }
        // A front that was written first lets go.
        #expect(front.all == (strategy == .frontFirst ? [:] : inFront))
      }
      #expect(try both.value(forKey: "a") == 1.5)
      #expect(try back.value(forKey: "a") == 1.5)
      #expect(store.lastSequence == before)
    }
  }

  @Test func transformerMayCallTheStorage() throws {
    try withTemporaryStore { store in
      let plain = try store.storage("values", of: Int.self)
      let counting = try store.storage(
        "values",
        transformer: Transformer<Int>(
          id: "counting",
          lend: { value, body in
            _ = try plain.update(forKey: "encoded", default: 0) { $0 += 1 }
            try Transformer<Int>.littleEndian.withBytes(of: value, body)
          },
          decode: { bytes in
            _ = try plain.update(forKey: "decoded", default: 0) { $0 += 1 }
            return try Transformer<Int>.littleEndian.decode(bytes)
          }
        )
      )
      let observation = try counting.observe { _ in _ = try? counting.value(forKey: "a") }
      try counting.set(7, forKey: "a")
      #expect(try counting.update(forKey: "a", default: 0) { $0 += 1 } == 8)
      #expect(try plain.value(forKey: "encoded") == 2)
      observation.cancel()
    }
  }

  @Test func entrysPartsAreOfOneWrite() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      let epoch: Int64 = 4_000_000_000_000
      let done = Collected<Bool>()
      onThreads(4) { thread in
        if thread == 0 {
          for number in 0..<20_000 {
            let expiry = Expiry.at(WallTime(millisecondsSince1970: epoch + Int64(number)))
            try? scores.set(number, forKey: "a", expiry: expiry)
          }
          done.add(true)
        } else {
          while done.count == 0 {
            guard let entry = try? scores.entry(forKey: "a") else { continue }
            #expect(entry.expiry == .at(WallTime(millisecondsSince1970: epoch + Int64(entry.value))))
          }
        }
      }
    }
  }

  @Test func keyspacesOfOneNameInTwoStoresAreApart() throws {
    try withTemporaryStore { one in
      try withTemporaryStore { other in
        let here = try one.storage("scores", of: Int.self)
        let there = try other.storage("scores", of: Int.self)
        let heard = Collected<StorageChange<String, Int>>()
        let observation = try here.observe { heard.add($0) }
        try there.set(1, forKey: "there")
        try here.set(2, forKey: "here")
        #expect(heard.reach(1))
        #expect(heard.all == [.set(key: "here", before: nil, after: 2)])
        #expect(try here.identity(of: "a") != there.identity(of: "a"))
        #expect(try here.identity(of: "a") == one.storage("scores", of: Int.self).identity(of: "a"))
        observation.cancel()
      }
    }
  }
}
