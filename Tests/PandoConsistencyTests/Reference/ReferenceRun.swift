import PandoConsistency
import PandoFixtures

/// A manager and the reference, which take the same random steps.
final class ReferenceRun {
  let manager = ConsistencyManager()
  let batchDelegate = BatchDelegate()
  private(set) var listeners: [Listener] = []
  private(set) var references: [ReferenceListener] = []
  private(set) var batchCallCount = 0
  private var isRegistered: [Bool] = []
  private let batch: BatchListener
  private var random: SeededGenerator
  private var trees = RandomTree()
  private var stepNumber = 0
  /// The first ones are the members of the batch.
  private static let memberCount = 4

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    for _ in 0..<12 {
      let tree = trees.pick(&random)
      listeners.append(Listener(tree))
      references.append(ReferenceListener(tree))
      isRegistered.append(true)
    }
    batch = BatchListener(
      listeners: Array(listeners.prefix(Self.memberCount)), consistencyManager: manager)
    batch.delegate = batchDelegate
    for listener in listeners { manager.addListener(listener) }
  }

  func step() async {
    stepNumber += 1
    let number = Int.random(in: 0..<listeners.count, using: &random)
    let kind = Int.random(in: 0..<20, using: &random)
    // Pausing and removing hold at once, also for what is on its way, so nothing may be.
    if [0, 3, 4, 5, 6].contains(kind) { await manager.drain() }
    switch kind {
    case 0: pause(number)
    case 1, 2: resume(number)
    case 3: remove(number)
    case 4, 5: add(number)
    case 6: setBatch(paused: true)
    case 7, 8: setBatch(paused: false)
    case 9, 10: delete()
    case 11, 12: update(count: 2)
    default: update(count: 1)
    }
  }

  /// Removes everybody.
  func finish() async {
    for listener in listeners { manager.removeListener(listener) }
    await manager.drain()
  }

  private func pause(_ number: Int) {
    guard isRegistered[number] else { return }
    manager.pauseListener(listeners[number])
    references[number].isPausedAlone = true
  }

  private func resume(_ number: Int) {
    guard references[number].isPausedAlone else { return }
    manager.resumeListener(listeners[number])
    references[number].isPausedAlone = false
    if !references[number].isPaused { catchUp([number], isMemberAlone: true) }
  }

  private func setBatch(paused: Bool) {
    guard batch.isPaused != paused else { return }
    batch.isPaused = paused
    var resumed: [Int] = []
    for number in 0..<Self.memberCount {
      references[number].isPausedInBatch = paused
      if !paused, !references[number].isPaused { resumed.append(number) }
    }
    if !paused { catchUp(resumed, isMemberAlone: false) }
  }

  private func catchUp(_ numbers: [Int], isMemberAlone: Bool) {
    let before = memberCallCount
    for number in numbers { references[number].resume() }
    if memberCallCount > before { batchCallCount += 1 }
  }

  private var memberCallCount: Int {
    references.prefix(Self.memberCount).map(\.calls.count).reduce(0, +)
  }

  private func remove(_ number: Int) {
    guard number >= Self.memberCount, isRegistered[number] else { return }
    manager.removeListener(listeners[number])
    isRegistered[number] = false
    references[number].isPausedAlone = false
  }

  /// Puts a new listener in the place of one that was removed or has lost its root.
  private func add(_ number: Int) {
    guard number >= Self.memberCount else { return }
    manager.removeListener(listeners[number])
    let tree = trees.pick(&random)
    listeners[number] = Listener(tree)
    references[number] = ReferenceListener(tree)
    isRegistered[number] = true
    manager.addListener(listeners[number])
  }

  private func update(count: Int) {
    let numbers = (0..<count).map { _ in Int.random(in: 0..<RandomTree.nameCount, using: &random) }
    for number in numbers { trees.make(number, &random) }
    let models = numbers.compactMap { trees.contents[$0] }
    var new: [String: Node] = [:]
    for node in models.flatMap(\.all) { if let name = node.name { new[name] = node } }
    manager.updateModels(models, context: stepNumber)
    apply(new, deleted: [])
  }

  private func delete() {
    let name = "n\(Int.random(in: 0..<RandomTree.nameCount, using: &random))"
    trees.delete(name)
    manager.deleteModel(Node(name, 0), context: stepNumber)
    apply([:], deleted: [name])
  }

  private func apply(_ new: [String: Node], deleted: Set<String>) {
    let before = memberCallCount
    for number in listeners.indices where isRegistered[number] {
      references[number].apply(new, deleted: deleted, context: stepNumber)
    }
    if memberCallCount > before { batchCallCount += 1 }
  }
}
