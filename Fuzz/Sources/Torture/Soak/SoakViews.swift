import Pando
import Synchronization

/// The providers of one process of the soak: they show what all processes write.
///
/// Each tree and list is shown twice; the second provider stands still now and then, by itself or
/// with its batch.
final class SoakViews: Sendable {
  typealias Models = SoakModels

  static let marks = "marks"
  /// The types of what is set through providers.
  static let ownTypes = ["Note", "Mark"]

  let manager: DataModelManager
  let process: Int
  let processCount: Int
  private let workload: Workload
  private let works: [SoakView<Models.Work>]
  private let parts: [SoakList<Models.Part>]
  private let shared: SoakView<Models.Shared>
  let notes: [SoakView<Models.Note>]
  let marks: [SoakList<Models.Mark>]
  let batch: BatchDataProviderListener
  private let lastSeen = Mutex<[Int]>([])

  init(_ store: ModelStore, _ workload: Workload, process: Int, processCount: Int) async throws {
    manager = try DataModelManager(store: store)
    self.workload = workload
    self.process = process
    self.processCount = processCount
    let manager = manager
    works = (0..<workload.taskCount * 2).map { SoakView(manager, "task:\($0 / 2)") }
    parts = (0..<workload.taskCount * 2).map { SoakList(manager, Workload.partList($0 / 2)) }
    shared = SoakView(manager, Workload.shared)
    notes = (0..<processCount * 2).map { SoakView(manager, "note:\($0 / 2)") }
    marks = (0..<2).map { _ in SoakList(manager, Self.marks) }
    batch = BatchDataProviderListener(
      dataProviders: [works[1].provider, parts[1].provider, notes[1].provider, marks[1].provider],
      dataModelManager: manager)
    for view in works { try await view.begin() }
    for view in parts { try await view.begin() }
    try await shared.begin()
    for view in notes { try await view.begin() }
    for view in marks { try await view.begin() }
  }

  /// At any moment all views show the same whole commit, and never one older than the last time.
  ///
  /// - Returns: The steps that it shows.
  @discardableResult
  func checkMoment() throws -> [Int] {
    let (works, lists, count) = manager.snapshot { snapshot in
      (
        self.works.map { snapshot.data(of: $0.provider) },
        parts.map { snapshot.data(of: $0.provider) },
        snapshot.data(of: shared.provider)?.count ?? 0
      )
    }
    let steps = stride(from: 0, to: works.count, by: 2).map { works[$0]?.version ?? 0 }
    try require(steps.reduce(0, +) == count, "providers show \(count) commits, but steps \(steps)")
    for (index, work) in works.enumerated() {
      let task = index / 2
      let place = "provider \(index) of task \(task), step \(steps[task])"
      if steps[task] > 0 {
        try require(
          work == Models.Work(workload, task: task, step: steps[task]), "\(place): another tree")
      }
      let list = lists[index]
      try require(
        list.count == Workload.partListLength(step: steps[task]),
        "\(place): a list of \(list.count)")
      try require(
        list.allSatisfy { $0.version == steps[task] && $0 == work?.first },
        "\(place): a list of other versions")
    }
    return steps
  }

  /// A refresh shows all commits up to now, of any process.
  func checkFresh(_ store: ModelStore) async throws {
    let committed = try await store.read { [workload] in try workload.steps(in: $0) }
    try await manager.refresh()
    try lastSeen.withLock { last in
      let shown = try checkMoment()
      try require(
        zip(shown, committed).allSatisfy { $0 >= $1 },
        "providers show \(shown), although \(committed) were committed")
      try require(
        zip(shown, last).allSatisfy { $0 >= $1 }, "providers went back from \(last) to \(shown)")
      last = shown
    }
  }

  /// While no process writes, each provider shows the stored model, and its delegate has got it.
  func checkQuiet(_ store: ModelStore) async throws {
    batch.isPaused = false
    for view in works { view.provider.isPaused = false }
    for view in parts { view.provider.isPaused = false }
    for view in notes { view.provider.isPaused = false }
    for view in marks { view.provider.isPaused = false }
    try await manager.refresh()
    await manager.drain()
    try await store.read { [self] snapshot in
      for view in works { try view.check(snapshot) }
      for view in parts { try view.check(snapshot) }
      try shared.check(snapshot)
      for view in notes { try view.check(snapshot) }
      for view in marks { try view.check(snapshot) }
      try require(
        try checkMoment() == workload.steps(in: snapshot), "providers show other steps")
    }
  }

  /// Makes one of the second providers stand still, or go on.
  func pause(_ random: inout some RandomNumberGenerator) {
    let isPaused = Bool.random(using: &random)
    switch Int.random(in: 0..<5, using: &random) {
    case 0: batch.isPaused = isPaused
    case 1: works[1].provider.isPaused = isPaused
    case 2: parts[3].provider.isPaused = isPaused
    case 3: notes[1].provider.isPaused = isPaused
    default: marks[1].provider.isPaused = isPaused
    }
  }
}
