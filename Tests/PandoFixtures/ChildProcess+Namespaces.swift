extension ChildProcess {
  private static let unshare = "/usr/bin/unshare"
  private static let namespace = ["--pid", "--fork", "--kill-child", "--mount-proc", "--"]

  /// Whether the tests may start processes in PID namespaces of their own.
  public static let mayMakeNamespaces = (try? run(unshare, namespace + ["/bin/true"]).status) == 0

  /// Starts a program that has number 1 in a PID namespace of its own, as in a container.
  ///
  /// - Parameters:
  ///   - program: The name of a program that was built beside the tests.
  ///   - arguments: What follows the program's name.
  /// - Throws: ``Failure`` when it cannot be started.
  public convenience init(inNamespace program: String, _ arguments: [String]) throws {
    let path = "\(Self.productFolder)/\(program)"
    try self.init(Self.unshare, Self.namespace + [path] + arguments)
  }
}
