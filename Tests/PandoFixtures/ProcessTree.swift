import CPandoSpawn
import Glibc

/// What the system says about this process and the processes it has started, and these again.
struct ProcessTree {
  /// One process.
  struct Member {
    let identifier: pid_t
    fileprivate let parent: pid_t
    /// The letter of the system, for example `S` for one that sleeps.
    let state: Character
    /// What it has used of the processor, with its children that have ended.
    let ticks: Int
  }

  /// This process.
  let own: Member
  /// All others.
  let descendants: [Member]

  /// Looks at the processes; `nil` where the system does not show them.
  init?() {
    var byParent: [pid_t: [Member]] = [:]
    for name in Self.names(in: "/proc") {
      guard pid_t(name) != nil, let member = Member("/proc/\(name)/stat") else { continue }
      byParent[member.parent, default: []].append(member)
    }
    guard let own = Member("/proc/self/stat") else { return nil }
    self.own = own
    var found: [Member] = []
    var rest = byParent[own.identifier] ?? []
    while let member = rest.popLast() {
      found.append(member)
      rest += byParent[member.identifier] ?? []
    }
    descendants = found.sorted { $0.identifier < $1.identifier }
  }

  /// Whether a thread runs, could run if a processor were free, or waits for a disk; the calling
  /// thread does not count.
  var isActive: Bool {
    let caller = gettid()
    return ([own] + descendants).contains { member in
      let folder = "/proc/\(member.identifier)/task"
      return Self.names(in: folder).contains { name in
        guard pid_t(name) != caller, let thread = Member("\(folder)/\(name)/stat") else {
          return false
        }
        return thread.state == "R" || thread.state == "D"
      }
    }
  }

  /// What all have used of the processor, in seconds.
  var processorSeconds: Int {
    descendants.reduce(own.ticks) { $0 + $1.ticks } / max(1, sysconf(CInt(_SC_CLK_TCK)))
  }

  /// One line for each process that this one has started.
  var lines: [String] {
    descendants.map { member in
      let words = Self.text("/proc/\(member.identifier)/cmdline")
      let line = words.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      return "\(member.identifier) (state \(member.state)): \(line.joined(separator: " "))"
    }
  }

  /// Ends all that this process has started.
  func killDescendants() {
    for member in descendants { kill(member.identifier, SIGKILL) }
  }

  private static func names(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
    }
    return names.filter { $0.first != "." }
  }

  fileprivate static func text(_ path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }
}

extension ProcessTree.Member {
  /// Reads `/proc/…/stat`: see proc_pid_stat(5).
  fileprivate init?(_ path: String) {
    let text = ProcessTree.text(path)
    // The name stands in parentheses and may contain anything.
    guard let nameEnd = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let words = text[(nameEnd + 1)...].split(separator: UInt8(ascii: " ")).map {
      String(decoding: $0, as: UTF8.self)
    }
    let number = text.prefix { $0 != UInt8(ascii: " ") }
    guard words.count > 14, let state = words[0].first, let parent = pid_t(words[1]),
      let identifier = pid_t(String(decoding: number, as: UTF8.self))
    else { return nil }
    self.init(
      identifier: identifier, parent: parent, state: state,
      ticks: words[11...14].compactMap { Int($0) }.reduce(0, +))
  }
}
