import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct SpaceReserveTests {
  private func size(_ directory: TemporaryDirectory) throws -> Int? {
    try Platform.system.fileSystem.status(directory.appending(FileName.reserve))?.size
  }

  @Test func setsAsideWhatIsAskedForAndGivesBackWhatIsFarMore() throws {
    let directory = try TemporaryDirectory()
    let reserve = SpaceReserve(directory: directory.path, fileSystem: Platform.system.fileSystem)
    reserve.fill(to: 100_000)
    #expect(try size(directory) == 100_000)
    reserve.fill(to: 300_000)
    #expect(try size(directory) == 300_000)
    // Not for a little: a store whose size swings would do nothing else.
    reserve.fill(to: 150_000)
    #expect(try size(directory) == 300_000)
    reserve.fill(to: 149_999)
    #expect(try size(directory) == 149_999)
  }

  @Test func isGivenUpWholly() throws {
    let directory = try TemporaryDirectory()
    let reserve = SpaceReserve(directory: directory.path, fileSystem: Platform.system.fileSystem)
    #expect(!reserve.release())
    reserve.fill(to: 100_000)
    #expect(reserve.release())
    #expect(try size(directory) == nil)
    #expect(!reserve.release())
  }
}
