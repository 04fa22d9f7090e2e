internal import CFuzzer
internal import Glibc

/// The common code of fuzz targets, which get bytes from libFuzzer.
public enum FuzzTarget {
  nonisolated(unsafe) private static var check: ([UInt8]) -> Void = { _ in }

  /// Whether a rule that is wrong on purpose holds in this run: a run that does not find it proves
  /// nothing.
  public static let isCanary = getenv("PANDO_FUZZ_CANARY") != nil

  /// Runs until libFuzzer ends the process.
  public static func run(_ check: @escaping ([UInt8]) -> Void) {
    self.check = check  // before there is another thread
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    _ = LLVMFuzzerRunDriver(&count, &arguments) { data, size in
      FuzzTarget.check(Array(UnsafeBufferPointer(start: data, count: size)))
      return 0
    }
  }

  /// Whether what is done is printed, to understand a finding.
  private static let isTracing = getenv("PANDO_FUZZ_TRACE") != nil

  /// Prints what is about to be done, where that is asked for.
  public static func trace(_ step: @autoclosure () -> String) {
    guard isTracing else { return }
    let line = Array("\(step())\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
  }

  /// Ends the process in a canary run when the rule that is wrong is broken.
  public static func canary(_ isFound: Bool) {
    if isCanary, isFound { fail("the canary was found") }
  }

  /// Ends the process with a finding unless something is true.
  public static func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { fail(message()) }
  }

  /// Ends the process with a finding.
  public static func fail(_ message: String) -> Never {
    let line = Array("FINDING: \(message)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
    abort()
  }
}
