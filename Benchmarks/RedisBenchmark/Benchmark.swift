/// What the client does beside redis-benchmark, on one server of this machine that is started for it:
///
///     swift run -c release esker-redis-benchmark [--seconds N] [--only get loop set batch none] [--invalidations]
@main
enum Benchmark {
  static func main() async { await Run.all(CommandLine.arguments) }
}
