import Foundation
import Pando

/// This program in another process, which makes commits of sequences.
///
/// A line of its input has the seed of a sequence and the number of the commit; the answer is `done`, or the error. It
/// ends with its input.
final class OtherWriter {
  static let option = "--writer"

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  /// Starts it over the store at a path.
  init(_ path: String) throws {
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [Self.option, path]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// Has it make a commit.
  func commit(_ seed: UInt64, _ number: Int) throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\(seed) \(number)\n".utf8))
    var answer = Data()
    while answer.last != UInt8(ascii: "\n") {
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { throw OtherFailure(description: "the other process has ended") }
      answer += more
    }
    switch String(decoding: answer.dropLast(), as: UTF8.self) {
    case "done": return
    case "valueTaken": throw ValueTaken()
    case let text: throw OtherFailure(description: text)
    }
  }

  func end() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// Makes the commits, in the other process.
  static func run(_ path: String) throws {
    let store = try ModelStore(path: path, configuration: .questions)
    var history: History?
    while let line = readLine() {
      let numbers = line.split(separator: " ")
      guard numbers.count == 2, let seed = UInt64(numbers[0]), let number = Int(numbers[1]) else {
        throw OtherFailure(description: "no commit: \(line)")
      }
      if history?.plan.seed != seed || history.map({ $0.count > number }) ?? true {
        history = History(Plan(seed: seed))
      }
      var answer = "done"
      do {
        while let count = history?.count, count < number { _ = history?.next() }
        if let step = history?.next() { try store.commit(step.calls) }
      } catch let error as StoreError where error.code == .valueTaken {
        answer = "valueTaken"
      } catch {
        answer = "\(error)"
      }
      FileHandle.standardOutput.write(Data((answer + "\n").utf8))
    }
    store.close()
  }
}

struct OtherFailure: Error, CustomStringConvertible {
  let description: String
}

/// Another process met equal values in a unique index.
struct ValueTaken: Error {}
