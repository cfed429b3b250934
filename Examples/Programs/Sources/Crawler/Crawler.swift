import Esker
import Foundation

/// What a server sends.
struct Page: Codable, Sendable {
  var body: String
  var links: [String]
}

/// Visits pages, and keeps what it has fetched in a cache of limited size. What must stay is in another keyspace of the same store.
struct Crawler {
  let store: LogStore
  let pages: Storage<String, Page>
  let visited: Storage<String, Int>
  private(set) var fetched = 0

  /// `capacity` is in bytes, of pages and what the log adds to each.
  init(at path: String, capacity: Int) throws {
    store = try LogStore(at: path)
    pages = try store.storage("pages", of: Page.self, capacity: .bytes(capacity))
    visited = try store.storage("visited", of: Int.self)
  }

  /// The page, from the cache if it is there and not older than a day.
  mutating func page(_ path: String, from site: Site) throws -> Page {
    if let page = try pages.value(forKey: path) { return page }
    fetched += 1
    let page = site.fetch(path)
    try pages.set(page, forKey: path, expiry: .after(.seconds(86_400)))
    return page
  }

  /// Visits all that is linked to, breadth first; how many pages there were.
  mutating func crawl(from start: String, of site: Site) throws -> Int {
    var queue = [start]
    var seen: Set = [start]
    while !queue.isEmpty {
      let path = queue.removeFirst()
      // Every page shows the menu: what is read stays.
      _ = try page("/menu", from: site)
      for link in try page(path, from: site).links where seen.insert(link).inserted { queue.append(link) }
      try visited.increment(path)
    }
    return seen.count
  }
}
