import Foundation
import Testing

/// What docs/design.md says about the package as a whole.
@Suite struct DesignTests {
  /// The arrows of "Layers", with those that the drawing leaves out because one leads there already.
  private static let imports: [String: Set<String>] = [
    "CPandoLMDB": [],
    "PandoSystem": [],
    "PandoModels": ["PandoSystem"],
    "PandoRecords": ["PandoModels", "PandoSystem"],
    "PandoLMDB": ["CPandoLMDB", "PandoSystem"],
    "PandoStore": ["PandoLMDB", "PandoRecords", "PandoModels", "PandoSystem"],
    "PandoConsistency": ["PandoRecords", "PandoModels", "PandoSystem"],
    "PandoReplication": ["PandoStore", "PandoLMDB", "PandoRecords", "PandoModels", "PandoSystem"],
    "PandoProviders": [
      "PandoConsistency", "PandoStore", "PandoRecords", "PandoModels", "PandoSystem",
    ],
    "PandoManagers": [
      "PandoProviders", "PandoStore", "PandoRecords", "PandoModels", "PandoSystem",
    ],
    "Pando": [
      "PandoManagers", "PandoProviders", "PandoConsistency", "PandoStore", "PandoRecords",
      "PandoModels",
    ],
    "PandoRemote": [
      "PandoManagers", "PandoStore", "PandoLMDB", "PandoRecords", "PandoModels", "PandoSystem",
    ],
    "PandoMacros": [],
    "CPandoNATS": [],
    "PandoNATSLog": ["CPandoNATS", "PandoReplication", "PandoSystem"],
    "CPandoPostgreSQL": [],
    "PandoPostgreSQLLog": ["CPandoPostgreSQL", "PandoReplication", "PandoSystem"],
    "PandoURLSession": ["PandoRemote"],
    "PandoMetrics": [
      "PandoReplication", "PandoManagers", "PandoProviders", "PandoConsistency", "PandoStore",
      "PandoSystem",
    ],
    "PandoTestSupport": ["PandoManagers", "PandoRemote", "PandoSystem"],
    "PandoCommand": [
      "Pando", "PandoMetrics", "PandoManagers", "PandoRemote", "PandoReplication", "PandoNATSLog",
      "PandoPostgreSQLLog", "PandoStore", "PandoLMDB", "PandoRecords", "PandoModels", "PandoSystem",
    ],
  ]

  @Test func `each module is drawn`() throws {
    let modules = try Package.names(in: "Sources")
    #expect(modules.sorted() == Self.imports.keys.sorted())
  }

  @Test(arguments: DesignTests.imports.keys.sorted())
  func `a module imports what the design page draws`(module: String) throws {
    var found: Set<String> = []
    for file in Package.swiftFiles(in: "Sources/\(module)") {
      found.formUnion(try Package.imports(of: file).map(\.module).filter { $0.contains("Pando") })
    }
    #expect(found == Self.imports[module])
  }

  @Test func `locks are those of PandoSystem`() throws {
    for file in Package.swiftFiles(in: "Sources") {
      // Examples in comments may have one.
      let code = try Package.text(of: file).replacing(/\/\/.*/, with: "")
      #expect(!code.contains(/\bMutex[<(]/), "\(file)")
    }
  }

  @Test func `benchmarks see public API only, and of the fuzz targets all but one`() throws {
    func testable(_ folder: String) throws -> [String] {
      try Package.swiftFiles(in: folder).flatMap { try Package.imports(of: $0) }
        .filter { $0.isTestable && $0.module.contains("Pando") }.map(\.module)
    }
    #expect(try testable("Benchmarks") == [])
    #expect(try testable("Fuzz") == ["PandoRecords"])
  }

  @Test func `no two names in a folder differ only by case`() throws {
    for folder in Package.folders() {
      let names = try Package.names(in: folder)
      #expect(Set(names.map { $0.lowercased() }).count == names.count, "\(folder)")
    }
  }

  @Test func `each test that the page names is there`() throws {
    // A suite can be several files: extensions of it.
    var tests: [String: String] = [:]
    for folder in ["Tests", "docs/examples/Tests", "Benchmarks/Tests"] {
      for file in Package.swiftFiles(in: folder) {
        let text = try Package.text(of: file)
        for match in text.matches(of: /(?:struct|class|extension) (\w+Tests)\b/) {
          tests[String(match.1), default: ""] += text
        }
      }
    }
    let page = try Package.text(of: "docs/design.md").replacing(/\s+/, with: " ")
    let named = page.matches(of: /(\w+Tests)`?(?: \(\w+\))?((?:,? (?:and )?“[^”]+”)+)/)
    for match in named {
      for name in match.2.matches(of: /“([^”]+)”/) {
        #expect(tests[String(match.1)]?.contains("`\(name.1)`") == true, "\(match.1) “\(name.1)”")
      }
    }
    #expect(!named.isEmpty)
    // None is named otherwise.
    let count = named.reduce(0) { $0 + $1.2.matches(of: /“/).count }
    #expect(count == page.matches(of: /“/).count, "a name without its suite")
  }

  @Test func `each link in the documents leads somewhere`() throws {
    let pages = try ["docs", "docs/guides", "docs/examples"].flatMap { folder in
      try Package.names(in: folder).filter { $0.hasSuffix(".md") }.map { "\(folder)/\($0)" }
    }
    var count = 0
    for page in pages + ["README.md"] {
      let text = try Package.text(of: page).replacing(/```[\s\S]*?```/, with: "")
      for match in text.matches(of: /\]\(([^)\s#]+)(?:#[^)\s]*)?\)/) where !match.1.contains(":") {
        count += 1
        let target = Package.url(page).deletingLastPathComponent()
          .appendingPathComponent(String(match.1))
        #expect(FileManager.default.fileExists(atPath: target.path), "\(page): \(match.1)")
      }
    }
    #expect(count > 0)
  }
}

/// The files of this package.
enum Package {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  static func url(_ path: String) -> URL { root.appendingPathComponent(path) }

  static func text(of path: String) throws -> String {
    try String(contentsOf: url(path), encoding: .utf8)
  }

  /// What is in a folder, but for what is hidden.
  static func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: url(folder).path)
      .filter { !$0.hasPrefix(".") }
  }

  /// The folders of the package, at any depth; not those that are hidden, where builds are kept.
  static func folders() -> [String] { [""] + all(in: "").filter(\.isFolder).map(\.path) }

  static func swiftFiles(in folder: String) -> [String] {
    all(in: folder).map(\.path).filter { $0.hasSuffix(".swift") }
  }

  private static func all(in folder: String) -> [(path: String, isFolder: Bool)] {
    guard let names = try? names(in: folder) else { return [] }
    return names.sorted().flatMap { name -> [(path: String, isFolder: Bool)] in
      let path = folder.isEmpty ? name : "\(folder)/\(name)"
      let attributes = try? FileManager.default.attributesOfItem(atPath: url(path).path)
      // A link is no folder: what it leads to is seen where it is.
      let isFolder = attributes?[.type] as? FileAttributeType == .typeDirectory
      return [(path, isFolder)] + (isFolder ? all(in: path) : [])
    }
  }

  private static let levels: Set<Substring> = ["public", "package", "internal", "private"]
  private static let kinds: Set<Substring> = [
    "struct", "enum", "class", "protocol", "typealias", "func", "let", "var",
  ]

  /// What a file imports, and how.
  static func imports(of file: String) throws -> [(module: String, isTestable: Bool)] {
    try text(of: file).split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard let place = words.firstIndex(of: "import"),
        words[..<place].allSatisfy({ $0.hasPrefix("@") || levels.contains($0) }),
        let name = words[(place + 1)...].first(where: { !kinds.contains($0) })
      else { return nil }
      return (String(name.prefix { $0 != "." }), words.contains("@testable"))
    }
  }
}
