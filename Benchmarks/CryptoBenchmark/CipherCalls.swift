#if Crypto
  import Crypto
  import Foundation

  /// What single calls of swift-crypto cost for a short value, and what other ways to make them would: all in turns, in one run.
  ///
  /// `esker-crypto-benchmark --calls [--rounds 7]`. Nonces that are made ahead are for measuring only.
  struct CipherCalls {
    let rounds: Int
    let count = 100_000

    private struct Call {
      let name: String
      /// Makes the call so many times; what comes out of it, so that no call is left out.
      let run: (Int) throws -> Int
      var times: [Double] = []
    }

    func run() throws {
      let key = SymmetricKey(size: .bits256)
      let message = (0..<100).map { UInt8($0) }
      let context = (0..<24).map { UInt8($0) }
      let nonce = AES.GCM.Nonce()
      let polyNonce = ChaChaPoly.Nonce()
      let messageData = Data(message)
      let contextData = Data(context)
      let box = try AES.GCM.seal(message, using: key, authenticating: context)
      let polyBox = try ChaChaPoly.seal(message, using: key, authenticating: context)
      guard let combined = box.combined else { return }
      let bytes = [UInt8](combined)
      let polyBytes = [UInt8](polyBox.combined)
      let many = [UInt8](repeating: 7, count: 1600)

      func pointers(_ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Int) rethrows -> Int {
        try message.withUnsafeBytes { message in try context.withUnsafeBytes { try body(message, $0) } }
      }
      func times(_ count: Int, _ body: () throws -> Int) rethrows -> Int {
        var sum = 0
        for _ in 0..<count { sum &+= try body() }
        return sum
      }

      var calls = [
        Call(name: "aes-gcm: seal, pointers, as sealed values do") { count in
          try pointers { message, context in
            try times(count) { try AES.GCM.seal(message, using: key, authenticating: context).combined?.count ?? 0 }
          }
        },
        Call(name: "aes-gcm: seal, pointers, nonce made ahead") { count in
          try pointers { message, context in
            try times(count) {
              try AES.GCM.seal(message, using: key, nonce: nonce, authenticating: context).combined?.count ?? 0
            }
          }
        },
        Call(name: "aes-gcm: seal, arrays, nonce made ahead") { count in
          try times(count) {
            try AES.GCM.seal(message, using: key, nonce: nonce, authenticating: context).combined?.count ?? 0
          }
        },
        Call(name: "aes-gcm: seal, data, nonce made ahead") { count in
          try times(count) {
            try AES.GCM.seal(messageData, using: key, nonce: nonce, authenticating: contextData).combined?.count ?? 0
          }
        },
        Call(name: "aes-gcm: seal, 16 values in one call, of each") { count in
          try times(count / 16) {
            try AES.GCM.seal(many, using: key, nonce: nonce, authenticating: context).combined?.count ?? 0
          }
        },
        Call(name: "aes-gcm: open, pointers, as sealed values do") { count in
          try bytes.withUnsafeBytes { bytes in
            try pointers { _, context in
              try times(count) {
                try AES.GCM.open(AES.GCM.SealedBox(combined: bytes), using: key, authenticating: context).count
              }
            }
          }
        },
        Call(name: "aes-gcm: open, data") { count in
          try times(count) {
            try AES.GCM.open(AES.GCM.SealedBox(combined: combined), using: key, authenticating: contextData).count
          }
        },
        Call(name: "aes-gcm: open, box made ahead, data") { count in
          try times(count) { try AES.GCM.open(box, using: key, authenticating: contextData).count }
        },
        Call(name: "chacha20-poly1305: seal, pointers") { count in
          try pointers { message, context in
            try times(count) { try ChaChaPoly.seal(message, using: key, authenticating: context).combined.count }
          }
        },
        Call(name: "chacha20-poly1305: seal, pointers, nonce made ahead") { count in
          try pointers { message, context in
            try times(count) {
              try ChaChaPoly.seal(message, using: key, nonce: polyNonce, authenticating: context).combined.count
            }
          }
        },
        Call(name: "chacha20-poly1305: open, pointers") { count in
          try polyBytes.withUnsafeBytes { bytes in
            try pointers { _, context in
              try times(count) {
                try ChaChaPoly.open(ChaChaPoly.SealedBox(combined: bytes), using: key, authenticating: context).count
              }
            }
          }
        },
        Call(name: "a nonce, from the system") { count in times(count) { AES.GCM.Nonce().underestimatedCount } },
        Call(name: "16 random bytes, from the system") { count in
          var generator = SystemRandomNumberGenerator()
          return times(count) { Int(truncatingIfNeeded: generator.next() ^ generator.next()) & 1 }
        },
        Call(name: "data of 100 bytes") { count in
          pointers { message, _ in times(count) { Data(message).count } }
        },
      ]
      let clock = ContinuousClock()
      var sum = 0
      for round in 0...rounds {
        for number in calls.indices {
          let taken = try clock.measure { sum &+= try calls[number].run(count) }
          if round > 0 { calls[number].times.append(taken / .nanoseconds(1) / Double(count)) }
        }
      }
      print("100 bytes, medians of \(rounds) rounds, ns (\(sum & 1))")
      for call in calls {
        let median = call.times.sorted()[call.times.count / 2]
        print("\(call.name.padding(toLength: 52, withPad: " ", startingAt: 0)) \(String(format: "%6.0f", median))")
      }
    }
  }
#endif
