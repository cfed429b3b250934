/// A line: elements leave it in the order in which they came. O(1) each, on average.
struct FIFOQueue<Element> {
  private var elements: [Element] = []
  private var head = 0

  var isEmpty: Bool { head == elements.count }
  var count: Int { elements.count - head }
  var first: Element? { isEmpty ? nil : elements[head] }

  mutating func append(_ element: Element) { elements.append(element) }

  /// Inserts an element behind all that `isBefore` it, looked for from the end: quick if it belongs there.
  mutating func insert(_ element: Element, after isBefore: (Element) -> Bool) {
    var place = elements.count
    while place > head, !isBefore(elements[place - 1]) { place -= 1 }
    elements.insert(element, at: place)
  }

  @discardableResult
  mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    let element = elements[head]
    head += 1
    if head >= 32, head * 2 >= elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return element
  }

  /// Keeps those that satisfy a condition.
  mutating func keep(where isKept: (Element) -> Bool) {
    elements = elements[head...].filter(isKept)
    head = 0
  }
}

extension FIFOQueue: Sendable where Element: Sendable {}
