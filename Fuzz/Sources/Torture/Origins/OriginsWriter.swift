import Glibc
import Pando
import PandoReplication
import Synchronization

/// A process of a machine: its tasks write, one write after another, until it is killed.
///
/// ```
/// done TASK STEP      the write has returned
/// refused TASK STEP   it was refused for good
/// begun               the closure of one runs, and does not end
/// returned            one has returned, of which nothing else is said; its task goes on no more
/// ```
final class OriginsWriter: Sendable {
  static let taskCount = 2

  private let machine: Int
  private let life: Int
  private let seed: UInt64
  /// Where it will be killed.
  private let step: OriginStep?
  /// Which write is the last one for the steps that this process comes to by itself.
  private let lastCount: Int
  private let control: OriginsControl?
  private let replica: ReplicatedStore
  private let count = Mutex(0)

  /// Positional: directory of the store, path of the log, machine, life, step at which it will be killed, at
  /// which time of coming there, what is wrong on purpose.
  init(_ options: Options) throws {
    machine = try options.integer(2)
    life = try options.integer(3)
    seed = options.seed
    step = OriginStep(rawValue: try options.text(4))
    lastCount = try options.integer(5)
    let control = Int(try options.text(6)).flatMap { OriginsControl(rawValue: $0) }
    self.control = machine == 0 ? control : nil
    // The process that started it has ended.
    let log = try OriginsConnection(options.text(1), machine: machine, life: life) { exit(0) }
    replica = try ReplicatedStore(path: options.text(0), log: log, configuration: .torture())
  }

  func run() async {
    await withTaskGroup { group in
      for task in 0..<Self.taskCount {
        group.addTask { await self.write(task: task) }
      }
    }
    // No task goes on, and it is killed here.
    while true { pause() }
  }

  private func write(task: Int) async {
    for number in 1... {
      let isKept = await perform(
        OriginsWrite(machine: machine, life: life, task: task, step: number))
      if control == .acknowledgesEarly { continue }
      if isKept, step == .returned, isLast() { return say(OriginStep.returned.rawValue) }
      say("\(isKept ? "done" : "refused") \(task) \(number)")
    }
  }

  private func isLast() -> Bool {
    count.withLock { count in
      count += 1
      return count == lastCount
    }
  }

  /// - Returns: Whether it was made, or refused for good; ends the process if neither is known.
  private func perform(_ write: OriginsWrite) async -> Bool {
    if control == .acknowledgesEarly { say("done \(write.task) \(write.step)") }
    do {
      for _ in 0..<(control == .writesTwice ? 2 : 1) {
        try await replica.store.write { transaction in
          try write.perform(
            in: &transaction, seed: self.seed, isLarge: self.step == .betweenParts)
          if self.step == .begun, self.isLast() {
            say(OriginStep.begun.rawValue)
            while true { pause() }
          }
        }
      }
      return true
    } catch let error as StoreError where error.code == .conflict {
      return false
    } catch {
      complain("machine \(machine), write \(write.mark): \(error)")
      exit(1)
    }
  }
}
