import Foundation

/// A shell on a real terminal, as tmux has it.
enum TmuxSession {
  static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/tmux")

  /// Runs lines of shell in which `t` is tmux with one session, whose prompt is `done> `, and `await` waits until a line of the screen
  /// matches; `"$0"` is the tool and `"$1"` the store.
  ///
  /// What does not come in ten minutes never does: then the screen is printed, and nothing else is run. The server ends in any case: as long
  /// as it is there, the end of the shell that has started it is not noticed.
  static func run(columns: Int, rows: Int, environment: String = "", _ script: String, in scratch: Scratch) throws
    -> ToolResult
  {
    try scratch.shell(
      #"""
      s="$1.tmux"; t() { tmux -S "$s" "$@"; }
      t -f /dev/null new-session -d -x \#(columns) -y \#(rows) "\#(environment) PS1='done> ' sh" || exit
      server=$(t display-message -p '#{pid}')
      trap 'kill -KILL "$server"' EXIT
      await() {
        n=0
        until t capture-pane -p | grep -q "$1"; do
          n=$((n+1)); [ $n -lt 6000 ] || { echo "\"$1\" does not come:"; t capture-pane -p; exit 1; }
          sleep 0.1
        done
      }
      \#(script)
      """#
    )
  }
}
