/// A web site that needs no network: 200 pages of 4 KB, each with links to two others, and a menu.
struct Site {
  func fetch(_ path: String) -> Page {
    guard let number = Int(path.dropFirst("/page/".count)) else { return Page(body: "Home, News, Contact", links: []) }
    let next = [2 * number, 2 * number + 1].filter { $0 <= 200 }
    let body = String(repeating: "This is page \(number). ", count: 250)
    return Page(body: body, links: next.map { "/page/\($0)" })
  }
}
