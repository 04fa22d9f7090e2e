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
  final class Life: Sendable {
    private let identifier: pid_t
    private let ending = Locked<Int32?>(nil)
    private let ended = Event()

    init(
      _ program: String, _ arguments: [String], _ environment: [String: String],
      _ directory: String?, _ descriptors: [CInt]
    ) throws {
      let path = program.contains("/") ? program : "\(ChildProcess.productFolder)/\(program)"
      let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      identifier = try withCStrings([path] + arguments) { words in
        try withCStrings(variables.map { "\($0)=\($1)" }) { variables in
          try Self.spawn(path, words, variables, directory, descriptors)
        }
      }
      Thread.detachNewThread { [self] in reap() }
    }

    /// Its status, negative for a signal, once it has ended.
    var status: Int32? { ending.withLock { $0 } }

    func wait() -> Int32 {
      ended.wait()
      return status ?? 0
    }

    func send(_ signal: Int32) {
      ending.withLock { if $0 == nil { _ = Glibc.kill(identifier, signal) } }
    }

    private func reap() {
      // Until `waitpid` nobody else gets the process's number, so `send` never meets a stranger.
      var information = siginfo_t()
      while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) == -1,
        errno == EINTR
      {}
      ending.withLock { ending in
        var status: CInt = 0
        while waitpid(identifier, &status, 0) == -1, errno == EINTR {}
        let signal = status & 0x7F
        ending = signal == 0 ? status >> 8 & 0xFF : -signal
      }
      ended.signal()
    }

    private static func spawn(
      _ path: String, _ words: [UnsafeMutablePointer<CChar>?],
      _ variables: [UnsafeMutablePointer<CChar>?], _ directory: String?, _ descriptors: [CInt]
    ) throws -> pid_t {
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      for (number, descriptor) in descriptors.enumerated() {
        posix_spawn_file_actions_adddup2(&actions, descriptor, CInt(number))
      }
      posix_spawn_file_actions_addclosefrom_np(&actions, CInt(descriptors.count))
      if let directory { posix_spawn_file_actions_addchdir_np(&actions, directory) }

      // A thread of Dispatch has most signals blocked, and a process inherits that.
      var attributes = posix_spawnattr_t()
      posix_spawnattr_init(&attributes)
      defer { posix_spawnattr_destroy(&attributes) }
      var (none, all) = (sigset_t(), sigset_t())
      sigemptyset(&none)
      sigfillset(&all)
      posix_spawnattr_setsigmask(&attributes, &none)
      posix_spawnattr_setsigdefault(&attributes, &all)
      posix_spawnattr_setflags(
        &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

      var identifier = pid_t()
      let code = posix_spawn(&identifier, path, &actions, &attributes, words, variables)
      guard code == 0 else { throw Failure("posix_spawn \(path)", code) }
      return identifier
    }
  }
}

/// Runs `body` with copies of texts as C passes them to programs, a null pointer last.
private func withCStrings<Result>(
  _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) throws -> Result
) rethrows -> Result {
  let copies = texts.map { strdup($0) }
  defer { for copy in copies { free(copy) } }
  return try body(copies + [nil])
}
