import Foundation
import Pando

/// One writer that changes models of a store for a while, a commit each: what checkpoints cost it, and how the
/// file grows.
final class SteadyWriting {
  private let runner: Runner
  private let people: [Person]
  private let count: Int
  /// By how many bytes the file has grown in each run.
  private var growths: [Int] = []

  /// Makes it.
  ///
  /// - Parameters:
  ///   - runner: Whose directories it uses.
  ///   - people: The models of the store.
  ///   - count: How many commits it makes.
  init(_ runner: Runner, _ people: [Person], count: Int) {
    (self.runner, self.people, self.count) = (runner, people, count)
  }

  /// By how many bytes the file has grown meanwhile, at most.
  var growthInBytes: Int? { growths.max() }

  func workload(_ durability: Durability) -> Workload {
    Workload(
      name: durability.isRelaxed ? "steady-relaxed" : "steady-\(durability.name)",
      operation: "one of \(people.count) models changed, a commit each",
      parameters: ["commits": count, "models": people.count], durability: durability,
      contenders: [Workload.Contender(.pando) { try self.measure(durability) }])
  }

  private func measure(_ durability: Durability) throws -> Measurement {
    let directory = try runner.makeDirectory()
    let pando = try PandoModels(directory, durability)
    try pando.put(people)
    try pando.store.flush()
    let start = ProcessCounters.byteCount(ofDirectory: directory.path)
    let measurement = try Measurement.time(
      count, stride: 1, in: directory,
      { latencies in
        var random = SeededGenerator(seed: runner.options.seed)
        for number in 0..<count {
          let person = people[Int.random(in: people.indices, using: &random)]
          try latencies.time {
            try pando.store.write { try $0.set(person.aged(number)) }
          }
        }
        return UInt64(count)
      })
    if durability.isRelaxed {
      let end = measurement.fileByteCount ?? start
      growths.append(end - start)
    }
    return measurement
  }

  /// How many bytes a second the disk takes: a file written as `dd conv=fdatasync` does.
  ///
  /// - Parameter byteCount: How large it is.
  /// - Returns: Bytes a second.
  /// - Throws: The error of the disk.
  func diskRate(byteCount: Int) throws -> Double {
    let directory = try runner.makeDirectory()
    let path = directory.path + "/disk"
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    guard let file = FileHandle(forWritingAtPath: path) else { throw CocoaError(.fileWriteUnknown) }
    // A file system could leave out compressible bytes and holes, which would be no rate.
    var random = SeededGenerator(seed: runner.options.seed)
    let block = Data((0..<1 << 20).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    let clock = ContinuousClock()
    let start = clock.now
    for _ in 0..<max(1, byteCount >> 20) { try file.write(contentsOf: block) }
    try file.synchronize()
    let duration = clock.now - start
    try file.close()
    return Double(max(1, byteCount >> 20) << 20) / (duration / .seconds(1))
  }
}

extension Durability {
  fileprivate var isRelaxed: Bool {
    if case .relaxed = self { return true }
    return false
  }
}

extension Person {
  fileprivate func aged(_ age: Int) -> Person {
    Person(
      identifier: identifier, name: name, email: email, about: about, age: age,
      followerCount: followerCount, score: score, isVerified: isVerified)
  }
}
