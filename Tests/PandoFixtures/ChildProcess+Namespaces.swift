extension ChildProcess {
  private static let unshare = "/usr/bin/unshare"

  // With a /proc of its own: libdispatch looks its threads up there by their numbers, and ends the process
  // with SIGILL when one is missing (`_dispatch_workq_monitor_pools`, once a second).
  private static let namespace = ["--pid", "--fork", "--kill-child", "--mount-proc", "--"]

  /// Whether the tests may start processes in PID namespaces of their own.
  public static let mayMakeNamespaces = (try? run(unshare, namespace + ["/bin/true"]).status) == 0

  /// Starts a program in a PID namespace of its own, as in a container.
  ///
  /// - Parameters:
  ///   - program: The name of a program that was built beside the tests.
  ///   - arguments: What follows the program's name.
  ///   - isFirst: Whether it has number 1 there; else a shell has, and it the next.
  /// - Throws: ``Failure`` when it cannot be started.
  public convenience init(
    inNamespace program: String, _ arguments: [String], isFirst: Bool = true
  ) throws {
    let shell = isFirst ? [] : ["/bin/sh", "-c", "\"$0\" \"$@\"; exit $?"]
    let path = "\(Self.productFolder)/\(program)"
    try self.init(Self.unshare, Self.namespace + shell + [path] + arguments)
  }
}
