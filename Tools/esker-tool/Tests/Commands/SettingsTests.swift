import Esker
import Foundation
import Testing

/// What a store remembers, shown and changed.
@Suite struct SettingsTests {
  @Test func settingsAreShownAndChanged() throws {
    let scratch = try Scratch()
    #expect(try scratch.run("settings", scratch.store).status == 66)
    #expect(try scratch.run("put", scratch.store, "k", "v").status == 0)
    let before = try scratch.run("settings", scratch.store)
    #expect(
      before.status == 0 && before.text.contains("no limit") && before.text.contains("buffered"),
      "\(before.text)"
    )
    let arguments = [
      "--capacity", "1GB", "--segment-size", "1MiB", "--durability", "periodic:2s", "--default-expiry", "1h",
      "--compression", "lz4",
    ]
    let changed = try scratch.run(["settings", scratch.store] + arguments)
    #expect(changed.status == 0 && changed.text.contains("periodic"), "\(changed.text)\(changed.errors)")
    let json = try scratch.run("settings", scratch.store, "--json").text
    for field in [
      #""durability":"periodic""#, #""syncPeriodSeconds":2"#, #""defaultExpirySeconds":3600"#,
      #""segmentSize":1048576"#, #""compression":"lz4""#, #""capacity":1000000000"#,
    ] {
      #expect(json.contains(field), "\(json)")
    }
    #expect(try scratch.run("settings", scratch.store, "--capacity", "none", "--default-expiry", "never").status == 0)
    let store = try LogStore(at: scratch.store)
    #expect(store.statistics.settings.capacity == nil && store.statistics.settings.defaultExpiry == .never)
    #expect(store.statistics.settings.durability == .periodic(.seconds(2)))
    try store.close()
  }

  @Test(arguments: [
    ["--capacity", "x"], ["--segment-size", "1"], ["--durability", "soon"], ["--default-expiry", "0s"],
  ])
  func whatIsNoSettingIsRefused(_ arguments: [String]) throws {
    let scratch = try Scratch()
    #expect(try scratch.run("put", scratch.store, "k", "v").status == 0)
    #expect(try scratch.run(["settings", scratch.store] + arguments).status == 64)
  }
}
