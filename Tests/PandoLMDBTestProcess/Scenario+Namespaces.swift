import CPandoFaults
import Glibc
import PandoLMDB
import PandoSystem

extension Scenario {
  /// Writes a row on a thread whose number is given on the input, if one is; says when it waits, and what its commit is.
  ///
  /// Ends when its input does.
  static func writeOnThread(_ path: String) throws {
    let environment = try Environment(path: path, configuration: configuration)
    let table = try environment.table("rows", keys: .string, values: .uint64)
    // ThreadSanitizer starts a thread of its own beside the first one.
    let hasStarted = Locked(false)
    startThread { hasStarted.withLock { $0 = true } }
    while !hasStarted.withLock(\.self) { sched_yield() }
    say("open")
    guard let line = readLine() else { return }
    if let wanted = Int32(line) { try setNextThread(wanted) }
    let state = Locked((thread: Int32(0), isDone: false))
    startThread {
      state.withLock { $0.thread = threadNumber() }
      do {
        try environment.write { transaction in
          let key = "\(getpid()) \(transaction.transactionID)"
          try transaction.put(transaction.transactionID, forKey: key, in: table)
          say("writes \(transaction.transactionID)")
        }
      } catch {
        fail("\(error)")
      }
      state.withLock { $0.isDone = true }
    }
    while !state.withLock({ $0.isDone }) {
      let thread = state.withLock { $0.thread }
      guard thread != 0, environment.writerWait.nanoseconds != nil, sleeps(thread) else {
        sched_yield()
        continue
      }
      say("waits as \(thread)")
      break
    }
    _ = readLine()
    environment.close()
  }

  /// Opens the environment on a thread; says whether that waits, and when it has read.
  static func openOnThread(_ path: String) throws {
    let state = Locked((thread: Int32(0), isDone: false))
    startThread {
      state.withLock { $0.thread = threadNumber() }
      do {
        let environment = try Environment(path: path, configuration: configuration)
        try environment.read { _ in }
        state.withLock { $0.isDone = true }
        say("read")
        while true { pause() }
      } catch {
        fail("\(error)")
      }
    }
    // It looks again and again whether it may go on.
    var looks = 0
    while !state.withLock({ $0.isDone }), looks < 1000 {
      let thread = state.withLock { $0.thread }
      if thread != 0, sleeps(thread) { looks += 1 }
      sched_yield()
    }
    if !state.withLock({ $0.isDone }) { say("waits") }
    _ = readLine()
  }

  /// Makes a child inside a write, says its number, and waits to be killed; the child lives on.
  static func forkInWrite(_ path: String) throws {
    let environment = try Environment(path: path, configuration: configuration)
    try environment.write { _ in
      let child = faults_fork()
      if child != 0 { say("\(child)") }
      while true { pause() }
    }
  }

  /// Counts a row up, again and again, until its input ends or it is killed; says each number once it is committed.
  static func countUp(_ path: String) throws {
    let environment = try Environment(path: path, configuration: configuration)
    let table = try environment.table("rows", keys: .string, values: .uint64)
    while true {
      let number = try environment.write { transaction in
        let number = (try transaction.value(forKey: "count", in: table) ?? 0) + 1
        try transaction.put(number, forKey: "count", in: table)
        return number
      }
      say("\(number)")
    }
  }

  /// Lets the next thread of this namespace have a number.
  private static func setNextThread(_ number: Int32) throws {
    let file = fopen("/proc/sys/kernel/ns_last_pid", "w")
    expect(file != nil, "ns_last_pid can't be opened")
    fputs("\(number - 1)", file)
    expect(fclose(file) == 0, "ns_last_pid can't be written")
  }

  private static func sleeps(_ thread: Int32) -> Bool {
    guard let file = fopen("/proc/self/task/\(thread)/stat", "r") else { return false }
    defer { fclose(file) }
    var bytes = [CChar](repeating: 0, count: 512)
    let count = fread(&bytes, 1, bytes.count - 1, file)
    let text = String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard let end = text.lastIndex(of: ")") else { return false }
    return text[end...].dropFirst(2).first == "S"
  }

  private static func startThread(_ body: @escaping @Sendable () -> Void) {
    let status = tryStartingThread(named: "test") { body() }
    expect(status == 0, "no thread: \(status)")
  }
}

/// The number of the calling thread, in the namespace of its process.
func threadNumber() -> Int32 {
  var text = [CChar](repeating: 0, count: 64)
  let count = readlink("/proc/thread-self", &text, text.count)
  guard count > 0 else { return 0 }
  let path = String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  return path.split(separator: "/").last.flatMap { Int32($0) } ?? 0
}
