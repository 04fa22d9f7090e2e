/// One word after `pando` and what it does.
protocol Command: SendableMetatype {
  /// Name, arguments, options and help.
  static var declaration: CommandDeclaration { get }

  /// Does the work.
  ///
  /// - Parameters:
  ///   - arguments: Parsed by ``declaration``.
  ///   - output: Where results go; flushed by the caller.
  /// - Throws: What ended the work; ``CommandError/init(_:store:)`` makes one line of it.
  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws
}
