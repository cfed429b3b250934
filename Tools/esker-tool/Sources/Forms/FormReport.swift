import Esker

/// Which entries do not have the forms that their keyspaces record, and what values are made of, in memory that does not grow with them.
struct FormReport {
  /// Entries that are alike, with the keys of the first few.
  struct Group<Kind: Hashable> {
    let kind: Kind
    var entries = 0
    /// As they are printed.
    var samples: [[UInt8]] = []
  }

  /// Groups in the order in which they came, as many as are told apart.
  struct Groups<Kind: Hashable> {
    private(set) var all: [Group<Kind>] = []
    private var places: [Kind: Int] = [:]
    /// Entries of kinds beyond those.
    private(set) var others = 0
    private let most: Int

    init(most: Int) { self.most = most }

    mutating func add(_ kind: Kind, _ key: @autoclosure () -> [UInt8]) {
      var place = places[kind]
      if place == nil {
        guard all.count < most else {
          others += 1
          return
        }
        place = all.count
        places[kind] = all.count
        all.append(Group(kind: kind))
      }
      guard let place else { return }
      all[place].entries += 1
      if all[place].samples.count < FormReport.mostSamples { all[place].samples.append(key()) }
    }
  }

  enum Part: String { case key, value }

  /// What is not of the recorded form.
  struct Misfit: Hashable {
    let part: Part
    let form: String
    /// What it is instead.
    let found: String
  }

  struct Field: Hashable {
    let path: String
    let kind: ValueShape.Kind
  }

  struct Keyspace {
    let name: String
    let keyForm: String?
    let valueForm: String?
    var entries = 0
    /// How many values were looked into.
    var shaped = 0
    var misfits = Groups<Misfit>(most: FormReport.mostMisfits)
    var versions = Groups<UInt16>(most: FormReport.mostMisfits)
    var fields = Groups<Field>(most: FormReport.mostFields)
  }

  static let mostSamples = 5
  static let mostMisfits = 32
  static let mostFields = 200

  private(set) var keyspaces: [Keyspace] = []
  private var places: [String: Int] = [:]
  private(set) var damaged = 0

  /// Whether all entries have the recorded forms, as far as the tool knows them.
  var isClean: Bool { keyspaces.allSatisfy { $0.misfits.all.isEmpty } }

  mutating func add(_ entry: borrowing Snapshot.Entry, _ forms: EntryForms.Pair) {
    let key: [UInt8]
    let value: [UInt8]
    do throws(StoreError) {
      key = try entry.key()
      value = try entry.value()
    } catch {
      damaged += 1
      return
    }
    let place = place(of: entry.keyspace, forms)
    let shown = { forms.keys.isTranslated ? forms.keys.text(of: key).map { Array($0.utf8) } ?? key : key }
    keyspaces[place].entries += 1
    if let found = forms.keys.misfit(of: key) {
      keyspaces[place].misfits.add(Misfit(part: .key, form: forms.keyName ?? "", found: found), key)
    }
    guard let content = forms.values.content(of: value) else {
      keyspaces[place].misfits.add(Misfit(part: .value, form: forms.valueName ?? "", found: "not whole"), shown())
      return
    }
    if let version = content.version { keyspaces[place].versions.add(version, shown()) }
    if let found = content.form.misfit(of: content.bytes) {
      keyspaces[place].misfits.add(Misfit(part: .value, form: forms.valueName ?? "", found: found), shown())
    } else if let shape = StoredForm.shape(of: content) {
      keyspaces[place].shaped += 1
      for field in shape.fields { keyspaces[place].fields.add(Field(path: field.path, kind: field.kind), shown()) }
    }
  }

  private mutating func place(of name: String, _ forms: EntryForms.Pair) -> Int {
    if let place = places[name] { return place }
    places[name] = keyspaces.count
    keyspaces.append(Keyspace(name: name, keyForm: forms.keyName, valueForm: forms.valueName))
    return keyspaces.count - 1
  }
}
