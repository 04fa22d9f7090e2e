/// Compiles a source against the built modules of this package, as a client would.
///
/// - Parameters:
///   - source: One file.
///   - options: More options of the compiler.
/// - Returns: The compiler's status and what it said.
/// - Throws: What the system says when the compiler can't be started.
public func compile(
  _ source: String, options: [String] = []
) throws -> (status: Int32, output: String) {
  let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
  // Lifetimes are checked after type checking, so the compiler has to go as far as SIL.
  let command = """
    exec swiftc -frontend -emit-sil -parse-as-library -swift-version 6 -o /dev/null - \
    -package-name pando-test -module-name Test -I '\(ChildProcess.productFolder)/Modules' \
    -Xcc -fmodule-map-file='/\(root)/Sources/CPandoLMDB/module.modulemap' \
    -load-plugin-executable '\(ChildProcess.productFolder)/PandoMacros-tool#PandoMacros' \
    \(options.joined(separator: " ")) 2>&1
    """
  let run = try ChildProcess.run("/bin/sh", ["-c", command], input: source)
  return (run.status, run.output)
}

/// Words of the compiler's errors about what outlives its transaction.
public let lifetimeErrors = [
  "escap", "overlapping access", "noncopyable", "Copyable", "Escapable", "async",
  "data race", "lifetime", "consum",
]
