import Esker
import Foundation
import Testing

@Suite struct LocationTests {
  /// In a process of its own, whose home is a temporary directory.
  @Test func storesAreInTheDirectoriesOfTheProgram() async {
    await #expect(processExitsWith: .success) {
      let home = URL(filePath: temporaryPath(), directoryHint: .isDirectory)
      defer { try? FileManager.default.removeItem(at: home) }
      for variable in ["HOME", "CFFIXED_USER_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
        setenv(variable, variable.hasPrefix("XDG") ? home.appending(path: variable).path : home.path, 1)
      }
      for location in LogStore.Location.allCases {
        let directory = try location.directory(named: "cities & más")
        #expect(directory.path.hasPrefix(home.path))
        #expect(directory.lastPathComponent == "cities & más")
        #expect(!FileManager.default.fileExists(atPath: directory.path))
        let parent = directory.deletingLastPathComponent().path
        let attributes = try FileManager.default.attributesOfItem(atPath: parent)
        #expect(attributes[.posixPermissions] as? Int == 0o700)

        let store = try LogStore(named: "cities & más", in: location)
        try store.put("1", forKey: "\(location)")
        try store.close()
        let same = try LogStore(at: directory)
        #expect(same.statistics.keys == 1)
        #expect(try same.get("\(location)") == Array("1".utf8))
        try same.close()
      }
    }
  }

  @Test(arguments: ["", ".", "..", "a/b", "../a", "/", "a\0"])
  func aNameIsThatOfOneFile(name: String) {
    #expect(throws: StoreError.failed(operation: "name a directory", path: name, errno: 0)) {
      try LogStore.Location.caches.directory(named: name)
    }
  }

  @Test func aDirectoryThatCannotBeMadeIsAnErrorWithItsReason() async {
    await #expect(processExitsWith: .success) {
      let home = temporaryPath()
      defer { try? FileManager.default.removeItem(atPath: home) }
      // A file where the home should be.
      try Data().write(to: URL(filePath: home))
      for variable in ["HOME", "CFFIXED_USER_HOME"] { setenv(variable, home, 1) }
      for variable in ["XDG_DATA_HOME", "XDG_CACHE_HOME"] { setenv(variable, home + "/" + variable, 1) }
      let error = #expect(throws: StoreError.self) { try LogStore(named: "cities") }
      guard case .failed("create", let path, _) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(path.hasPrefix(home))
    }
  }
}
