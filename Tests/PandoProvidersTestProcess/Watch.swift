import CPandoFaults
import Glibc
import PandoLMDB
import PandoProviders
import PandoStore
import Synchronization

/// A process that shows person 1 and the list of people, and says each name that it is told, what kind of change
/// the list has had, and when it has read all anew.
///
/// Argument: a group; then it is a user without rights but those of the group, and opens for reading only. It
/// says `ready`; the lines that it gets are `fork`, `close`, and what it is not to wait for.
enum Watch {
  private static let nobody: uid_t = 65_534

  static func run(_ path: String, _ arguments: [String]) async throws {
    var configuration = ModelStore.Configuration.following
    if let group = arguments.first.flatMap({ gid_t($0) }) {
      expect(
        setgroups(0, nil) == 0 && setgid(group) == 0 && setuid(nobody) == 0, "setuid: \(errno)")
      expect(access("\(path)/data.mdb", W_OK) != 0, "it may write")
      configuration.isReadOnly = true
    }
    let store = try ModelStore(path: path, configuration: configuration)
    let manager = try DataModelManager(store: store)
    let list = ToldList(manager) { change in
      say(change == .reset ? "list reset" : "list changed")
    }
    let person = Told<Person>(manager) { say($0?.name ?? "nobody") }
    try await person.provider.fetchDataFromCache(
      withCacheKey: "Person:1", listensWhenAbsent: true)
    try await list.provider.fetchDataFromCache(withCacheKey: "people")
    say("ready")
    while let line = readLine() {
      if line == "fork" { fork(store) }
      if line == "close" {
        await store.close()
        say("closed")
        while watcherCount > 0 { sched_yield() }
        say("ended")
      }
    }
    withExtendedLifetime((person, list)) {}
  }

  /// A child watches nothing, and takes nothing from its parent.
  private static func fork(_ store: ModelStore) {
    expect(watcherCount == 1, "\(watcherCount) threads watch")
    let child = faults_fork()
    if child == 0 {
      expect(watcherCount == 0, "\(watcherCount) threads watch in the child")
      do {
        try store.read { _ in }
        fail("the child reads")
      } catch {
        expect((error as? LMDBError)?.code == .usedAfterFork, "\(error)")
      }
      store.close()
      _exit(0)
    }
    var status: CInt = 0
    waitpid(child, &status, 0)
    expect(status == 0, "the child ended with \(status)")
    say("forked")
  }

  /// How many threads of this process watch for commits.
  private static var watcherCount: Int {
    guard let directory = opendir("/proc/self/task") else { fail("no /proc") }
    defer { closedir(directory) }
    var count = 0
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard let file = fopen("/proc/self/task/\(name)/comm", "r") else { continue }
      defer { fclose(file) }
      var text = [CChar](repeating: 0, count: 64)
      guard fgets(&text, CInt(text.count), file) != nil else { continue }
      let bytes = text.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
      if String(decoding: bytes, as: UTF8.self) == "pando.watcher" { count += 1 }
    }
    return count
  }
}
