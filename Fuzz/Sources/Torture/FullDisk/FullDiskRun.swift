import Foundation
import Pando
import PandoLMDB

/// Fills a small disk up under a store, and gives the space back.
///
/// Writes fail with an error that says so and leave nothing; reads go on; with space again, writes
/// succeed: at once, or after the store has been opened anew where a flush had failed.
struct FullDiskRun {
  private static let sizeInMebibytes = 4
  /// After so many commits on a full disk each one adds ballast: the workload has a bounded size, and may fit.
  private static let lightCommitMaximum = 500

  private let options: Options
  private let directory: WorkingDirectory
  private var random: SeededGenerator
  private var commits = 0
  private var errors: [String: Int] = [:]
  private var reopened = 0

  init(_ options: Options) throws {
    self.options = options
    random = SeededGenerator(seed: options.seed)
    directory = try WorkingDirectory("full-disk", isInMemory: false)
  }

  mutating func run() throws {
    let rounds = options.rounds > 0 ? options.rounds : 3
    say("full-disk: seed \(options.seed), \(rounds) rounds on each of tmpfs and ext4")
    guard getuid() == 0 else {
      return say("full-disk: NOT RUN: mounting a small disk takes root")
    }
    try directory.use {
      for kind in SmallDisk.Kind.allCases {
        for round in 0..<rounds {
          do {
            try self.round(round, kind)
          } catch {
            throw TortureFailure(
              "full-disk: seed \(options.seed), \(kind.rawValue), round \(round): \(error)")
          }
        }
      }
    }
    let list = errors.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }
    say("full-disk: errors: \(list.joined(separator: ", "))")
    say(
      """
      full-disk: seed \(options.seed): \(commits) commits, \(errors.values.reduce(0, +)) refused, \
      \(reopened) times opened anew: nothing lost
      """)
  }

  private mutating func round(_ round: Int, _ kind: SmallDisk.Kind) throws {
    let disk: SmallDisk
    do {
      disk = try SmallDisk(kind, sizeInMebibytes: Self.sizeInMebibytes, in: directory.path)
    } catch {
      return say("full-disk: NOT RUN on \(kind.rawValue): \(error)")
    }
    do {
      try use(disk, round, kind)
    } catch {
      try disk.remove()
      throw error
    }
    try disk.remove()
  }

  private mutating func use(_ disk: SmallDisk, _ round: Int, _ kind: SmallDisk.Kind) throws {
    let level = Durability.tortured[round % 4]
    let workload = Workload(
      seed: options.seed + UInt64(round), taskCount: 1, mayForgetChanges: true)
    let path = "\(disk.path)/store"
    var store = try open(path, level, disk)
    defer { store.close() }
    var step = 0
    for _ in 0..<3 {
      try disk.fill(leaving: Int.random(in: 0..<200_000, using: &random))
      var (refused, accepted) = (0, 0)
      while refused < 10 {
        do {
          let isLight = accepted < Self.lightCommitMaximum
          try commit(workload, step + 1, store, ballast: isLight ? nil : step)
          (step, accepted) = (step + 1, accepted + 1)
          try require(step < 100_000, "the disk does not fill up")
        } catch let error as LMDBError {
          refused += 1
          errors["\(kind.rawValue) \(error.code.explanation)", default: 0] += 1
          try require([.diskFull, .failedFlush].contains(error.code), "\(error)")
        }
        try store.read { try workload.check($0, steps: [step]) }
      }
      let full = try store.verify()
      try require(full.isClean, "verify on a full disk: \(full.problems)")
      disk.makeRoom()
      do {
        try commit(workload, step + 1, store)
      } catch let error as LMDBError where error.code == .failedFlush {
        store.close()
        reopened += 1
        store = try ModelStore(path: path, configuration: .torture(level))
        // The write whose flush failed may have reached the disk.
        let shown = try store.read { try workload.steps(in: $0) }[0]
        try require(shown == step || shown == step + 1, "step \(shown) after \(step)")
        step = shown
        try commit(workload, step + 1, store)
      }
      step += 1
      for _ in 0..<5 {
        try commit(workload, step + 1, store)
        step += 1
      }
      try store.read { try workload.check($0, steps: [step]) }
      let report = try store.verify()
      try require(report.isClean, "verify: \(report.problems)")
    }
    commits += step
  }

  private func commit(
    _ workload: Workload, _ step: Int, _ store: ModelStore, ballast: Int? = nil
  ) throws {
    try store.write { transaction in
      try workload.perform(task: 0, step: step, in: &transaction)
      guard let ballast else { return }
      let text = String(repeating: "x", count: 3_000)
      try transaction.set(
        TreeNode("ballast:\(ballast)", type: Workload.ballast, fields: ["text": .string(text)]))
    }
  }

  /// Makes a store on a disk that is full at first: an error, and no remains in the way.
  private mutating func open(
    _ path: String, _ level: Durability, _ disk: SmallDisk
  ) throws -> ModelStore {
    for _ in 0..<10 {
      try disk.fill(leaving: Int.random(in: 0..<100_000, using: &random))
      do {
        try ModelStore(path: path, configuration: .torture(level)).close()
      } catch let error as LMDBError {
        errors["opening: \(error.code.explanation)", default: 0] += 1
        try require([.diskFull, .failedFlush].contains(error.code), "\(error)")
      }
    }
    disk.makeRoom()
    return try ModelStore(path: path, configuration: .torture(level))
  }
}
