import Foundation
import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import Testing

/// Several processes that write one store, and show what the others write.
@Suite struct ManyProcessesTests {
  private func withFollowingStore(
    _ body: (String, ModelStore, DataModelManager) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { path in
      var configuration = ModelStore.Configuration()
      configuration.mapSizeInBytes = 64 << 20
      configuration.durability = .unsynchronized
      configuration.followsOtherProcesses = true
      let store = try ModelStore(path: path, configuration: configuration)
      let manager = try DataModelManager(store: store)
      try await body(path, store, manager)
      await manager.close()
      await store.close()
    }
  }

  /// Has processes write, and compare what they show with what is stored.
  private func writeAndCompare(_ processes: [ChildProcess]) throws {
    for process in processes { try #require(process.nextLine() == "ready") }
    for process in processes { try process.write("write\n") }
    for process in processes { try #require(process.nextLine() == "done") }
    for process in processes { try process.write("compare\n") }
    for process in processes { #expect(process.nextLine() == "same") }
    for process in processes { #expect(process.wait() == 0) }
  }

  private func makeList(_ path: String) throws {
    var configuration = ModelStore.Configuration()
    configuration.mapSizeInBytes = 1 << 20
    configuration.durability = .unsynchronized
    let store = try ModelStore(path: path, configuration: configuration)
    try store.write { try $0.setCollection("people", to: [Person]()) }
    store.close()
  }

  @Test(arguments: [2, 4])
  func `all processes see all commits in order, with exact changes`(count: Int) async throws {
    try await blocking {
      try withTemporaryDirectory { path in
        try makeList(path)
        let processes = try (0..<count).map {
          try ChildProcess(
            "PandoProvidersTestProcess", ["everyone", path, "\($0)", "\(count)", "500"])
        }
        try writeAndCompare(processes)
      }
    }
  }

  @Test(.enabled(if: ChildProcess.mayMakeNamespaces, "`unshare --pid` is not permitted"))
  func `processes of two namespaces of process numbers hear of each other`() async throws {
    try await blocking {
      try withTemporaryDirectory { path in
        try makeList(path)
        // liblmdb locks readers' slots by process number: it must differ.
        let processes = try [0, 1].map {
          try ChildProcess(
            inNamespace: "PandoProvidersTestProcess", ["everyone", path, "\($0)", "2", "200"],
            isFirst: $0 == 0)
        }
        try writeAndCompare(processes)
      }
    }
  }

  @Test func `a commit of a writer that dies before waking readers is seen, as are later ones`()
    async throws
  {
    try await withFollowingStore { path, _, manager in
      let provider = DataProvider<Person>(dataModelManager: manager)
      try await provider.fetchDataFromCache(withCacheKey: "Person:1", listensWhenAbsent: true)
      var models = provider.values.makeAsyncIterator()
      let later = try OtherProcess(path)
      for number in 0..<20 {
        let dying = try OtherProcess(path, isSilent: true)
        try dying.perform("set 1 A\(number)")
        dying.kill()
        while try await models.next()??.name != "A\(number)" {}
        try later.perform("set 1 B\(number)")
        while try await models.next()??.name != "B\(number)" {}
      }
      later.end()
    }
  }

  @Test func `a commit of a writer that is killed anywhere is shown`() async throws {
    try await withFollowingStore { path, store, manager in
      let provider = DataProvider<Person>(dataModelManager: manager)
      try await provider.fetchDataFromCache(withCacheKey: "Person:1", listensWhenAbsent: true)
      var models = provider.values.makeAsyncIterator()
      let later = try OtherProcess(path)
      for number in 0..<20 {
        let dying = try OtherProcess(path)
        try dying.begin("rename 1 1000000")
        for _ in 0...number { _ = try await models.next() }
        dying.kill()
        // A commit that was cut short shows with the next one.
        try later.perform("set 2 B\(number)")
        let last = try await store.read { try $0.get("Person:1", as: Person.self) }
        while provider.data != last { _ = try await models.next() }
      }
      later.end()
    }
  }

  @Test(.enabled(if: getuid() == 0, "only root can become another user"))
  func `a user who may only read by the rights of a group is notified`() async throws {
    try await blocking {
      try withTemporaryDirectory { parent in
        let group: gid_t = 65_533
        let path = "\(parent)/store"
        let other = try OtherProcess(path)
        try other.perform("set 1 Ada")
        chmod(parent, 0o711)
        // Readers write their slots into the lock file, and nothing else.
        for (name, mode) in [("", 0o550), ("/data.mdb", 0o440), ("/lock.mdb", 0o660)]
          as [(_, mode_t)]
        {
          #expect(chown(path + name, getuid(), group) == 0)
          #expect(chmod(path + name, mode) == 0)
        }
        let watcher = try ChildProcess("PandoProvidersTestProcess", ["watch", path, "\(group)"])
        try #require(watcher.nextLine() == "ready")
        for number in 0..<20 {
          try other.perform("set 1 B\(number)")
          #expect(watcher.nextLine() == "B\(number)")
        }
        try other.perform("delete 1")
        #expect(watcher.nextLine() == "nobody")
        watcher.closeInput()
        #expect(watcher.wait() == 0)
        other.end()
      }
    }
  }

  @Test func `closing ends the thread that watches, and a forked child has none`() async throws {
    try await blocking {
      try withTemporaryDirectory { path in
        let watcher = try ChildProcess("PandoProvidersTestProcess", ["watch", path])
        try #require(watcher.nextLine() == "ready")
        let other = try OtherProcess(path)
        try other.perform("set 1 A")
        #expect(watcher.nextLine() == "A")
        try watcher.write("fork\n")
        #expect(watcher.nextLine() == "forked")
        try other.perform("set 1 B")
        #expect(watcher.nextLine() == "B")
        try watcher.write("close\n")
        #expect(watcher.nextLine() == "closed")
        #expect(watcher.nextLine() == "ended")
        try other.perform("set 1 C")
        watcher.closeInput()
        #expect(watcher.nextLine() == nil)
        #expect(watcher.wait() == 0)
        other.end()
      }
    }
  }

  /// Stops a process, and waits until it is.
  private func stop(_ process: ChildProcess) {
    process.send(SIGSTOP)
    var information = siginfo_t()
    while waitid(P_PID, id_t(process.identifier), &information, WSTOPPED | WNOWAIT) == -1,
      errno == EINTR
    {}
  }

  /// The lines of a process up to a given one.
  private func lines(of process: ChildProcess, until last: String) throws -> [String] {
    var lines: [String] = []
    while lines.last != last {
      guard let line = process.nextLine() else { throw OtherProcess.Ended() }
      lines.append(line)
    }
    return lines
  }

  @Test func `a process stopped for longer than the change log reads all data anew, once`()
    async throws
  {
    try await blocking {
      try withTemporaryDirectory { path in
        try makeList(path)
        let other = try OtherProcess(path)
        try other.perform("set 2 Bob")
        let watcher = try ChildProcess("PandoProvidersTestProcess", ["watch", path])
        try #require(watcher.nextLine() == "ready")
        try other.perform("set 1 Ada")
        try #require(watcher.nextLine() == "Ada")

        // A writer that asks for less takes nothing from it.
        var configuration = ModelStore.Configuration()
        configuration.mapSizeInBytes = 64 << 20
        configuration.durability = .unsynchronized
        configuration.changeLogLimit = 2
        let small = try ModelStore(path: path, configuration: configuration)
        stop(watcher)
        for number in 0..<100 {
          try small.write { try $0.set(Person(id: 1, name: "A\(number)")) }
        }
        try small.write { try $0.append([Person(id: 2, name: "Bob")], toCollection: "people") }
        small.close()
        watcher.send(SIGCONT)
        #expect(try lines(of: watcher, until: "A99").filter { $0 == "reloaded" } == [])

        // The log keeps 10 000 commits.
        stop(watcher)
        try other.perform("append 1 people")
        try other.perform("rename 1 10100")
        watcher.send(SIGCONT)
        var told = try lines(of: watcher, until: "C10099")
        try other.perform("append 1 people")
        try other.perform("set 1 D")
        told += try lines(of: watcher, until: "D")
        watcher.closeInput()
        while let line = watcher.nextLine() { told.append(line) }
        #expect(told.filter { $0 == "reloaded" }.count == 1)
        #expect(told.filter { $0 == "list reset" }.count == 1)
        #expect(told.contains("list changed"))
        #expect(watcher.wait() == 0)
        other.end()
      }
    }
  }
}
