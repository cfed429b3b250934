import Esker
import Synchronization

let path = CommandLine.arguments.dropFirst().first ?? "jobs.esker"
var queue = try JobQueue(at: path)

// They are due in another order than they come in.
try queue.add("send the report", at: 30)
try queue.add("fetch the mail", at: 10)
try queue.add("fetch the news", at: 10)
try queue.add("resize the picture", at: 20)

print("at 5: \(try queue.take(at: 5)?.job.name ?? "nothing is due")")
while let (key, job) = try queue.take(at: 20) {
  // The picture is not to be had yet.
  if job.name == "resize the picture" {
    print("at 20: \(job.name) fails, attempt \(job.attempts)")
    continue
  }
  print("at 20: \(job.name)")
  try queue.done(key)
}

// As if the program had ended here: what was not done is still there.
try queue.store.close()
queue = try JobQueue(at: path)
print("after a restart: \(try queue.jobs.keys().count) jobs")
while let (key, job) = try queue.take(at: 30) {
  print("at 30: \(job.name), attempt \(job.attempts)")
  try queue.done(key)
}

// Four workers at once: each job is taken by one.
for number in 0..<200 { try queue.add("job \(number)", at: 100) }
let shared = queue
let taken = Mutex<[String]>([])
try await withThrowingTaskGroup(of: Void.self) { group in
  for _ in 0..<4 {
    group.addTask {
      while let (key, job) = try shared.take(at: 100) {
        taken.withLock { $0.append(job.name) }
        try shared.done(key)
      }
    }
  }
  try await group.waitForAll()
}
let names = taken.withLock { $0 }
print("four workers: \(names.count) jobs done, \(Set(names).count) different ones, \(try queue.jobs.keys().count) left")
try queue.store.close()
