import Esker
import Foundation

let path = CommandLine.arguments.dropFirst().first ?? "crawler.esker"
let site = Site()
let limit = 256 << 10

var crawler = try Crawler(at: path, capacity: limit)
print("first: \(try crawler.crawl(from: "/page/1", of: site)) pages visited, \(crawler.fetched) fetched")
let figures = crawler.store.statistics.keyspaces["pages"]
print("the cache is full: \((figures?.liveBytes ?? 0) > limit * 9 / 10)")
print("and within its limit: \((figures?.liveBytes ?? .max) <= limit)")
print("pages were evicted: \((figures?.evicted ?? 0) > 0)")
print("the menu, which was read all the time, is there: \(try crawler.pages.contains("/menu"))")
print("page 1, the first to come, is there: \(try crawler.pages.contains("/page/1"))")
try crawler.store.close()

// What is left is there when the program starts again, and what is not a cache has lost nothing.
crawler = try Crawler(at: path, capacity: limit)
print("again: the menu is there: \(try crawler.pages.contains("/menu"))")
print(
  "page 200 comes from the cache: \(try crawler.page("/page/200", from: site).body.count) characters, \(crawler.fetched) fetched"
)
print("visited: \(try crawler.visited.values().reduce(0, +)) times, \(try crawler.visited.keys().count) pages")
try crawler.store.close()
