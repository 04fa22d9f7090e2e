import Foundation
import Glibc
import Pando

/// Replays a recording, and at each entry builds states that the disk could have and looks at them.
///
/// A process of its own, because a state that the engine is wrong about may end it.
struct CutChecker {
  private let options: Options
  private let level: Durability
  private let workload: Workload
  private let entries: [DiskEntry]
  private let part: Int
  private let partCount: Int
  /// Where the stores are; `store` has the state to look at, `again` a copy that is written.
  private let directory: String
  private let progress: CInt

  private var promise: CutPromise
  private var data = CutFile()
  private var dataFile: Int?
  /// The slots beside it, where the level has them.
  private var slots = CutFile()
  private var slotsFile: Int?
  private var areSlotsNamed = false
  /// The part that the states are made without, to see that they are wrong then.
  private let hidden: String
  private var hasFolder = false
  private var isFolderDurable = false
  private var isNameDurable = false
  private var tally = CutTally()
  private let descriptor: CInt
  private let slotsDescriptor: CInt

  private var image: String { "\(directory)/store" }

  /// Positional: log, directory, level, part, count of parts, what is hidden.
  init(_ options: Options) throws {
    self.options = options
    level = try Durability(named: options.text(2))
    workload = Workload(seed: options.seed, taskCount: PowerCutRun.taskCount)
    entries = try DiskEntry.load(options.text(0))
    directory = try options.text(1)
    part = try options.integer(3)
    partCount = try options.integer(4)
    hidden = try options.text(5)
    promise = try CutPromise(entries, level: level, taskCount: PowerCutRun.taskCount)
    try FileManager.default.createDirectory(
      atPath: "\(directory)/store", withIntermediateDirectories: true)
    descriptor = open("\(directory)/store/data.mdb", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    slotsDescriptor = open("\(directory)/slots", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    progress = open("\(directory)/progress", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
  }

  mutating func run() throws {
    for (index, entry) in entries.enumerated() {
      try replay(entry)
      if index % partCount == part { try cut(index) }
      // A synchronous write is pending while it is under way, and on the disk when it returns.
      if case .write(let file, let offset, let bytes, true) = entry, file == dataFile {
        data.sync(offset..<offset + bytes.count)
      }
    }
    tally["entries"] = part == 0 ? entries.count : 0
    tally["commits"] = part == 0 ? promise.commits.count : 0
    say(tally.line)
  }

  private mutating func replay(_ entry: DiskEntry) throws {
    switch entry {
    case .create(let file, let path):
      if path.hasSuffix("/store/data.mdb") { dataFile = file }
      if path.hasSuffix("/store/checkpoint.mdb") { slotsFile = file }
    case .write(let file, let offset, let bytes, _):
      if file == dataFile { data.write(bytes, at: offset) }
      if file == slotsFile { slots.write(bytes, at: offset) }
    case .sync(let file):
      if file == dataFile, hidden != "flush" { data.sync() }
      if file == slotsFile { slots.sync() }
    case .truncate(let file, let size):
      if file == dataFile { data.truncate(to: size) }
    case .mark(let text): try promise.take(text)
    case .makeDirectory: hasFolder = true
    case .syncDirectory(let path):
      if path.hasSuffix("/store") {
        isNameDurable = dataFile != nil
        areSlotsNamed = slotsFile != nil
      } else {
        isFolderDurable = hasFolder
      }
    }
  }

  /// Tries states of the disk at one point of the recording.
  private mutating func cut(_ index: Int) throws {
    try data.update(descriptor)
    try slots.update(slotsDescriptor)
    tally["cuts"] += 1
    let hasChoice = data.hasPending || slots.hasPending || !(isNameDurable && isFolderDurable)
    for variant in 0..<(hasChoice ? 2 + options.states : 1) {
      var random = SeededGenerator(seed: options.seed, index, variant)
      let text = Array("entry \(index), variant \(variant)                    ".utf8)
      pwrite(progress, text, text.count, 0)
      do {
        try state(variant, &random)
      } catch {
        // The next states need this one's bytes gone.
        tally["failures"] += 1
        if hidden == "nothing" {
          complain("\(level.name), entry \(index), variant \(variant): \(error)")
          if tally["failures"] >= 5 { throw TortureFailure("too many failures") }
        }
      }
      try data.restore(descriptor)
      try slots.restore(slotsDescriptor)
      tally["states"] += 1
    }
  }

  private mutating func state(_ variant: Int, _ random: inout SeededGenerator) throws {
    let isThere =
      variant == 1 || (isNameDurable && isFolderDurable)
      || (variant > 1 && dataFile != nil && random.chance(50))
    guard isThere, dataFile != nil else {
      tally["absent"] += 1
      return try require(!promise.requiresStore, "the store has no name on the disk")
    }
    let choices: [CutFile.Choice] = [
      .random(dropping: 50), .random(dropping: 10), .random(dropping: 90), .random(dropping: 2),
      .random(dropping: 98),
    ]
    let choice = variant == 0 ? .none : variant == 1 ? .all : choices[(variant - 2) % choices.count]
    try data.make(choice, on: descriptor, using: &random)
    try slots.make(choice, on: slotsDescriptor, using: &random)
    let hasSlots =
      areSlotsNamed || slotsFile != nil && (variant == 1 || variant > 1 && random.chance(50))
    try putSlots(hasSlots && hidden != "slot")
    try look(&random)
  }

  /// Opens a state and compares it.
  private mutating func look(_ random: inout SeededGenerator) throws {
    // The readers of the machine that lost its power: anything.
    let lock = "\(image)/lock.mdb"
    unlink(lock)
    if random.chance(10) {
      let bytes = (0..<Int.random(in: 0..<10_000, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      try Data(bytes).write(to: URL(fileURLWithPath: lock))
    }
    let number: Int
    do {
      number = try shownCommit()
    } catch let failure as TortureFailure {
      // Sound pages and records, and yet no version that ever was.
      tally["not-a-version"] += 1
      if level != .unsynchronized { throw failure }
      return
    } catch  where level == .unsynchronized {
      tally["damaged"] += 1
      return
    }
    try require(number >= promise.minimum, "commit \(number), \(promise.minimum) must be there")
    tally[number >= promise.newest ? "complete" : "earlier"] += 1
    tally.lostMaximum = max(tally.lostMaximum, promise.newest - number)
    if random.chance(6) { try goOn(number, &random) }
  }

  /// Puts the slots, or none, beside the data file.
  private func putSlots(_ areThere: Bool) throws {
    let path = "\(image)/checkpoint.mdb"
    unlink(path)
    if areThere { try FileManager.default.copyItem(atPath: "\(directory)/slots", toPath: path) }
  }

  /// The commit that the store shows, all of whose content has been compared.
  ///
  /// A store that was being made when the power failed is opened for writing, which makes what is
  /// missing; in a copy, because the image has to stay as it is.
  private func shownCommit() throws -> Int {
    // A version is put in place where one may write.
    let isReadOnly = promise.requiresStore && !level.isRelaxed
    let path = isReadOnly ? image : try copy()
    var configuration = ModelStore.Configuration.torture(.unsynchronized, isReadOnly: isReadOnly)
    configuration.verifying = .everything
    let store = try ModelStore(path: path, configuration: configuration)
    defer { store.close() }
    return try store.read { snapshot in
      let number = Int(try snapshot.commitNumber.value) % Workload.numbersPerCut
      try workload.check(snapshot, steps: try promise.steps(number))
      return number
    }
  }

  private func copy() throws -> String {
    let path = "\(directory)/again"
    WorkingDirectory.remove(path)
    try FileManager.default.copyItem(atPath: image, toPath: path)
    return path
  }

  /// Writes to a copy of the state: it must be as good as any other store.
  private mutating func goOn(_ number: Int, _ random: inout SeededGenerator) throws {
    let next = level.isRelaxed && random.chance(50) ? level : .unsynchronized
    let store = try ModelStore(path: try copy(), configuration: .torture(next))
    defer { store.close() }
    var steps = try promise.steps(number)
    for _ in 0..<3 {
      steps[0] += 1
      try store.write { [workload, steps] in
        try workload.perform(task: 0, step: steps[0], in: &$0)
      }
    }
    try store.read { try workload.check($0, steps: steps) }
    if level.isRelaxed { try checkChanges(store, number) }
    let report = try store.verify()
    try require(report.isClean, "after writing: \(report.problems)")
    tally["written-on"] += 1
  }

  /// A reader of a lost commit gets an error, and no other commit has its number.
  private func checkChanges(_ store: ModelStore, _ number: Int) throws {
    try store.read { snapshot in
      do {
        let changes = try snapshot.changes(since: CommitNumber(value: UInt64(promise.newest)))
        try require(
          number >= promise.newest && changes.count == number - promise.newest + 3,
          "\(changes.count) changes since commit \(promise.newest), the state was of \(number)")
      } catch let error as StoreError where error.code == .changesExpired {
        let newest = Int(try snapshot.commitNumber.value)
        try require(
          newest > Workload.numbersPerCut, "commit \(newest) has expired changes before it")
      }
    }
  }
}
