import Foundation
import PandoFixtures
import Testing

/// What `docs/rename` makes of programs as they were written for the ancestors, or for an earlier
/// Pando.
@Suite struct RenameTests {
  private static let isAvailable = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")

  /// A program before and after.
  private struct Sample {
    let name: String
    let before: String
    let after: String

    init(_ name: String) throws {
      self.name = "\(name).swift"
      before = try Package.text(of: "Tests/PandoTests/Rename/\(name).before.txt")
      after = try Package.text(of: "Tests/PandoTests/Rename/\(name).after.txt")
    }
  }

  private let samples: [Sample]
  private let former: Sample

  init() throws {
    samples = [try Sample("Lucid"), try Sample("RocketData")]
    former = try Sample("Former")
  }

  /// Writes the programs into a fresh folder.
  private func withSamples(_ body: (String) throws -> Void) throws {
    try withTemporaryDirectory { directory throws in
      for sample in samples + [former] {
        try sample.before.write(
          toFile: "\(directory)/\(sample.name)", atomically: true, encoding: .utf8)
      }
      try body(directory)
    }
  }

  private func rename(in directory: String, _ options: String...) throws -> String {
    let run = try ChildProcess.run(
      "/usr/bin/python3",
      [Package.url("docs/rename").path] + options + samples.map(\.name), directory: directory)
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    return run.output
  }

  private func text(of sample: Sample, in directory: String) throws -> String {
    try String(contentsOfFile: "\(directory)/\(sample.name)", encoding: .utf8)
  }

  @Test(.enabled(if: isAvailable, "Python 3 is not installed: apt install python3"))
  func `names become those of here, and what is left is listed with its reason`() throws {
    try withSamples { directory in
      let report = try rename(in: directory)
      #expect(try report == Package.text(of: "Tests/PandoTests/Rename/report.txt"))
      for sample in samples { #expect(try text(of: sample, in: directory) == sample.after) }
      // What was listed is still there; nothing is renamed twice.
      #expect(try rename(in: directory) == report)
      for sample in samples { #expect(try text(of: sample, in: directory) == sample.after) }
    }
  }

  @Test(.enabled(if: isAvailable, "Python 3 is not installed: apt install python3"))
  func `with check it says what it would change, and changes nothing`() throws {
    try withSamples { directory in
      let said = try rename(in: directory, "--check").split(separator: "\n")
      for sample in samples { #expect(try text(of: sample, in: directory) == sample.before) }
      #expect(said.contains("RocketData.swift:22: ConsistencyManagerModel → Model"))
      #expect(said.contains("RocketData.swift:91: shouldCache: → updateCache:"))
      #expect(said.contains("RocketData.swift:44: _ → to:"))
      #expect(said.contains("Lucid.swift:25: by: → _"))
      let left = try Package.text(of: "Tests/PandoTests/Rename/report.txt").split(separator: "\n")
      #expect(said.filter { !$0.contains(" → ") } == left)
    }
  }

  @Test(.enabled(if: isAvailable, "Python 3 is not installed: apt install python3"))
  func `names that Pando has had become those of today`() throws {
    try withSamples { directory in
      let program = Package.url("docs/rename").path
      for options in [["--check"], [], []] {
        let run = try ChildProcess.run(
          "/usr/bin/python3", [program, "--former"] + options + [former.name], directory: directory)
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        let isCheck = !options.isEmpty
        #expect(run.output.contains("Former.swift:9: EntityField → Field") == isCheck)
        #expect(try text(of: former, in: directory) == (isCheck ? former.before : former.after))
      }
    }
  }

  @Test func `the new names are public here`() {
    for sample in samples + [former] {
      let new = Self.words(of: sample.after).subtracting(Self.words(of: sample.before))
      #expect(new.count >= 5)
      #expect(new.subtracting(Self.publicWords) == [], "\(sample.name)")
    }
  }

  private static func words(of text: some StringProtocol) -> Set<String> {
    Set(text.split(whereSeparator: { !$0.isLetter && !$0.isNumber }).map { String($0) })
  }

  /// The words of public declarations, of what public protocols ask for, and of cases; and the module.
  private static let publicWords: Set<String> = {
    var found: Set<String> = ["Pando"]
    for file in Package.swiftFiles(in: "Sources") {
      var isInProtocol = false
      var isPublic = false
      guard let text = try? Package.text(of: file) else { continue }
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        let code = line.drop { $0 == " " }
        if code.hasPrefix("//") { continue }
        if code.hasPrefix("public ") { isPublic = true }
        if line.hasPrefix("public protocol ") { isInProtocol = true }
        if isPublic || isInProtocol || code.hasPrefix("case ") { found.formUnion(words(of: code)) }
        if code.isEmpty || code.hasSuffix("{") || code.hasSuffix("}") { isPublic = false }
        if line == "}" { isInProtocol = false }
      }
    }
    return found
  }()
}
