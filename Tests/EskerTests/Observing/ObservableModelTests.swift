import Esker
import Observation
import Testing

/// What the macro expands to names the module `Observation`, so no public type of Esker may have that name.
@Observable
private final class Model {
  var launches = 0
}

struct ObservableModelTests {
  @Test func aModelThatIsObservedStandsBesideEsker() throws {
    let storage = MemoryStorage<String, Int>()
    try storage.set(3, forKey: "launches")
    let model = Model()
    model.launches = try storage.value(forKey: "launches") ?? 0
    #expect(model.launches == 3)
  }
}
