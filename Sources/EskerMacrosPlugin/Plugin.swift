#if Macros
  import SwiftCompilerPlugin
  import SwiftSyntaxMacros

  @main
  struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [CBORCodableMacro.self]
  }
#else
  /// A program without the trait: it expands nothing, and nobody starts it.
  @main
  enum Plugin {
    static func main() {}
  }
#endif
