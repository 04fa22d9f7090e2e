import CPandoSpawn
import Foundation
import Glibc
import PandoSystem

extension ChildProcess {
  /// The folder with the programs that were built together with the tests.
  public static let productFolder =
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    .path

  /// A process from its start until it has been waited for, which a thread of its own does.
  ///
  /// That thread starts it too: the process is killed when the thread ends, so it does not live longer
  /// than the tests, however these end.
  final class Life: Sendable {
    private struct State {
      var identifier: pid_t = 0
      /// Negative for a signal.
      var status: Int32?
    }

    private let name: String
    private let state = Locked(State())
    private let ended = DispatchSemaphore(value: 0)

    init(
      _ program: String, _ arguments: [String], _ environment: [String: String],
      _ directory: String?, _ descriptors: [CInt]
    ) throws {
      let path = program.contains("/") ? program : "\(ChildProcess.productFolder)/\(program)"
      let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      name = ([program] + arguments).joined(separator: " ")
      let failure = Locked<CInt>(0)
      let begun = DispatchSemaphore(value: 0)
      Thread.detachNewThread { [self] in
        let identifier = withCStrings([path] + arguments) { words in
          withCStrings(variables.map { "\($0)=\($1)" }) { variables in
            pando_spawn(path, words, variables, directory, descriptors, CInt(descriptors.count))
          }
        }
        let code = errno
        if identifier < 0 { failure.withLock { $0 = code } }
        state.withLock { $0.identifier = identifier }
        begun.signal()
        if identifier > 0 { reap(identifier) }
      }
      begun.wait()
      let code = failure.withLock { $0 }
      if code != 0 { throw Failure("start of \(path)", code) }
    }

    /// Its number.
    var identifier: pid_t { state.withLock { $0.identifier } }

    /// Its number and what it runs.
    var description: String { "process \(identifier) (\(name))" }

    /// Its status, negative for a signal, once it has ended.
    var status: Int32? { state.withLock { $0.status } }

    func wait(_ file: StaticString, _ line: UInt) -> Int32 {
      Waits.during("the end of \(description)", file, line) { ended.wait() }
      ended.signal()
      return status ?? 0
    }

    func send(_ signal: Int32) {
      state.withLock { if $0.status == nil { _ = Glibc.kill($0.identifier, signal) } }
    }

    private func reap(_ identifier: pid_t) {
      // Until `waitpid` nobody else gets the process's number, so `send` never meets a stranger.
      var information = siginfo_t()
      while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) == -1,
        errno == EINTR
      {}
      state.withLock { state in
        var status: CInt = 0
        while waitpid(identifier, &status, 0) == -1, errno == EINTR {}
        let signal = status & 0x7F
        state.status = signal == 0 ? status >> 8 & 0xFF : -signal
      }
      ended.signal()
    }
  }
}

/// Runs `body` with copies of texts as C passes them to programs, a null pointer last.
private func withCStrings<Result>(
  _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
  let copies = texts.map { strdup($0) }
  defer { for copy in copies { free(copy) } }
  return body(copies + [nil])
}
