import PandoFixtures
import PandoLMDB
import PandoMetrics
import PandoStore
import PandoSystem
import Testing

/// Copies, checks and dumps that a task waits for.
@Suite struct BackgroundTests {
  private struct Person: Model, Codable, Equatable {
    var id: Int
    var name: String
    var modelIdentifier: String? { "Person:\(id)" }
  }

  /// Makes a store whose file is several MiB large.
  private func withLargeStore(_ body: (ModelStore, String) async throws -> Void) async throws {
    try await withTemporaryDirectory { path in
      var configuration = ModelStore.Configuration()
      configuration.durability = .unsynchronized
      let store = try ModelStore(path: path + "/store", configuration: configuration)
      let filler = String(repeating: "filler ", count: 500)
      try await store.write { transaction in
        for id in 0..<2_000 { try transaction.set(Person(id: id, name: "\(id) \(filler)")) }
      }
      try await body(store, path)
      await store.close()
    }
  }

  /// Runs work that its own progress cancels, and says how it has ended.
  private func cancelled(
    _ work: @escaping @Sendable (_ cancel: @escaping @Sendable () -> Void) async throws -> Void
  ) async -> Result<Void, any Error> {
    let task = Monitor<Task<Void, any Error>?>(nil)
    let made = Task {
      try await work { task.waiting { $0 }.cancel() }
    }
    task.withLock { $0 = made }
    task.notifyAll()
    return await made.result
  }

  private func expectCancelled(_ result: Result<Void, any Error>) {
    #expect(throws: CancellationError.self) { try result.get() }
  }

  @Test(arguments: [false, true])
  func `a copy tells how far it is, and is whole`(compacting: Bool) async throws {
    try await withLargeStore { store, path in
      let told = Locked<[StoreProgress]>([])
      let copied = path + "/copy"
      try await store.copy(to: copied, compacting: compacting) { step in
        told.withLock { $0.append(step) }
      }
      let steps = told.withLock(\.self)
      #expect(steps.count > 3)
      #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.completedCount <= $1.completedCount })
      #expect(steps.allSatisfy { (0...1).contains($0.fraction) })
      #expect(steps.last?.fraction == 1)
      #expect(steps.allSatisfy { $0.stage == .copy })
      let copy = try ModelStore(path: copied)
      #expect(try await copy.verify().isClean)
      #expect(try await copy.read { try $0.count(ofType: "Person") } == 2_000)
      await copy.close()
    }
  }

  @Test func `a copy that is cancelled leaves nothing, and may be made again`() async throws {
    try await withLargeStore { store, path in
      let copied = path + "/copy"
      // Early while it is written, and late while it is checked.
      for share in [0.1, 0.6] {
        let outcome = await cancelled { cancel in
          try await store.copy(to: copied) { if $0.fraction > share { cancel() } }
        }
        expectCancelled(outcome)
        // Was: an empty folder.
        #expect(access(copied, F_OK) != 0)
      }
      try await store.copy(to: copied)
      #expect(try await ModelStore.verify(path: copied).isClean)
    }
  }

  /// Was: both failed, with a text that the store was damaged, and a damaged file stayed.
  @Test func `copies to one place at one time leave one whole copy`() async throws {
    try await withLargeStore { store, path in
      let copied = path + "/copy"
      let copies = (0..<4).map { _ in Task { try await store.copy(to: copied) } }
      var madeCount = 0
      for copy in copies {
        switch await copy.result {
        case .success: madeCount += 1
        case .failure(let error): #expect((error as? LMDBError)?.code == .fileExists, "\(error)")
        }
      }
      #expect(madeCount == 1)
      #expect(try FileList.names(in: copied) == ["data.mdb"])
      let report = try await ModelStore.verify(path: copied)
      #expect(report.nodeCount == 2_000)
    }
  }

  @Test func `a check that is cancelled ends, and the store goes on`() async throws {
    try await withLargeStore { store, path in
      expectCancelled(await cancelled { cancel in _ = try await store.verify { _ in cancel() } })
      let place = path + "/store"
      expectCancelled(
        await cancelled { cancel in _ = try await ModelStore.verify(path: place) { _ in cancel() } }
      )
      let stages = Locked<Set<StoreProgress.Stage>>([])
      let report = try await store.verify { step in stages.withLock { _ = $0.insert(step.stage) } }
      #expect(report.isClean)
      #expect(report.nodeCount == 2_000)
      #expect(stages.withLock(\.self).isSuperset(of: [.pages, .records]))
      try await store.write { try $0.set(Person(id: 1, name: "Ada")) }
    }
  }

  @Test func `a dump has the lines of the other form`() async throws {
    try await withLargeStore { store, _ in
      var expected: [String] = []
      try store.dump { expected.append($0) }
      let last = Locked(0.0)
      var lines: [String] = []
      for try await line in store.dump(progress: { step in last.withLock { $0 = step.fraction } }) {
        lines.append(line)
      }
      #expect(lines == expected)
      #expect(last.withLock(\.self) == 1)
    }
  }

  @Test func `an abandoned or cancelled dump ends, and releases its version`() async throws {
    try await withLargeStore { store, _ in
      for try await line in store.dump() {
        #expect(line.contains(#""pando":"dump""#))
        break
      }
      let outcome = await Task {
        var count = 0
        for try await _ in store.dump() {
          count += 1
          if count == 10 { withUnsafeCurrentTask { $0?.cancel() } }
        }
        return count
      }.result
      // What it was given at once with others it still has.
      if case .success(let count) = outcome { Issue.record("a whole dump of \(count) lines") }
      // The thread comes to its end a moment later.
      while try store.statistics().readerCount > 0 { await Task.yield() }
    }
  }

  @Test func `a dump waits for the reader of its lines`() async throws {
    try await withLargeStore { store, _ in
      let told = Locked(0)
      let dump = store.dump { step in told.withLock { $0 = step.completedCount } }
      var lines = dump.makeAsyncIterator()
      _ = try await lines.next()
      // Nothing was told yet: there are a thousand lines between two steps, and 256 are made ahead.
      for _ in 0..<300 { _ = try await lines.next() }
      #expect(told.withLock(\.self) == 0)
      while try await lines.next() != nil {}
      #expect(told.withLock(\.self) == 2_000)
    }
  }

  @Test func `a store closes though the rest of a dump is not read`() async throws {
    try await withLargeStore { store, _ in
      var lines = store.dump().makeAsyncIterator()
      for _ in 0..<3 { _ = try await lines.next() }
      await store.close()
      var error: (any Error)?
      do { while try await lines.next() != nil {} } catch let found { error = found }
      #expect((error as? StoreError)?.code == .closed)
    }
  }

  @Test func `a task that is cancelled already begins nothing`() async throws {
    try await withLargeStore { store, path in
      let outcome = await Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await store.copy(to: path + "/copy")
      }.result
      expectCancelled(outcome)
      #expect(throws: (any Error).self) { try FileList.names(in: path + "/copy") }
    }
  }

  @Test func `errors come as in the other form`() async throws {
    try await withLargeStore { store, path in
      try await store.copy(to: path + "/copy")
      let taken = await #expect(throws: LMDBError.self) {
        try await store.copy(to: path + "/copy")
      }
      #expect(taken?.code == .fileExists)
      await #expect(throws: (any Error).self) {
        try await ModelStore.verify(path: path + "/nowhere")
      }
      await store.close()
      let closed = await #expect(throws: StoreError.self) {
        for try await _ in store.dump() {}
      }
      #expect(closed?.code == .closed)
      let uncopied = await #expect(throws: StoreError.self) {
        try await store.copy(to: path + "/other")
      }
      #expect(uncopied?.code == .closed)
      let unchecked = await #expect(throws: StoreError.self) { _ = try await store.verify() }
      #expect(unchecked?.code == .closed)
    }
  }
}

/// The names in a folder.
private enum FileList {
  static func names(in folder: String) throws -> [String] {
    guard let stream = unsafe opendir(folder) else {
      throw LMDBError(.notFound, function: "opendir", detail: folder)
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
