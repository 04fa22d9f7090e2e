// swift-tools-version: 6.2
import CompilerPluginSupport
import Foundation
import PackageDescription

// Modules and who may import whom are drawn in docs/design.md, "Layers". Every target gets the
// same language settings from the two lists below; a new module is one entry in `targets`.

let languageSettings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableExperimentalFeature("Lifetimes"),
  .treatAllWarnings(as: .error),
]

let librarySettings: [SwiftSetting] = languageSettings + [.strictMemorySafety()]

/// The folder `lib/swift/host` of the toolchain, with the libraries that macros are made of.
///
/// It is `nil` if the toolchain has none. The package then builds without `@Model`.
let hostFolder: String? = {
  for folder in (Context.environment["PATH"] ?? "").split(separator: ":") {
    let compiler = URL(fileURLWithPath: "\(folder)/swiftc").resolvingSymlinksInPath()
    guard FileManager.default.isExecutableFile(atPath: compiler.path) else { continue }
    let host = compiler.deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("lib/swift/host").path
    if FileManager.default.fileExists(atPath: "\(host)/SwiftSyntax.swiftmodule") { return host }
  }
  return nil
}()

let hostLibraries = [
  "SwiftSyntax", "SwiftParser", "SwiftSyntaxMacros", "SwiftSyntaxBuilder",
  "SwiftSyntaxMacroExpansion",
  "SwiftDiagnostics", "SwiftCompilerPluginMessageHandling",
]

let package = Package(
  name: "pando",
  products: [
    .library(name: "Pando", targets: ["Pando"]),
    .library(name: "PandoStore", targets: ["PandoStore"]),
    .library(name: "PandoLMDB", targets: ["PandoLMDB"]),
    .library(name: "PandoRemote", targets: ["PandoRemote"]),
    .library(name: "PandoURLSession", targets: ["PandoURLSession"]),
    .library(name: "PandoReplication", targets: ["PandoReplication"]),
    .library(name: "PandoNATSLog", targets: ["PandoNATSLog"]),
    .library(name: "PandoPostgreSQLLog", targets: ["PandoPostgreSQLLog"]),
    .library(name: "PandoMetrics", targets: ["PandoMetrics"]),
    .library(name: "PandoTestSupport", targets: ["PandoTestSupport"]),
    .executable(name: "pando", targets: ["PandoCommand"]),
  ],
  traits: [
    .trait(
      name: "NATS",
      description: "The log of replicated stores over NATS JetStream. Needs libnats."),
    .trait(
      name: "PostgreSQL",
      description: "The log of replicated stores over PostgreSQL. Needs libpq."),
  ],
  targets: [
    .systemLibrary(
      name: "CPandoLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
    .systemLibrary(
      name: "CPandoNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
    .systemLibrary(
      name: "CPandoPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .target(name: "PandoSystem", swiftSettings: librarySettings),
    .target(
      name: "PandoLMDB", dependencies: ["CPandoLMDB", "PandoSystem"],
      swiftSettings: librarySettings),
    .target(name: "PandoModels", dependencies: ["PandoSystem"], swiftSettings: librarySettings),
    .target(
      name: "PandoRecords", dependencies: ["PandoModels", "PandoSystem"],
      swiftSettings: librarySettings),
    .target(
      name: "PandoStore",
      dependencies: ["PandoLMDB", "PandoRecords", "PandoModels", "PandoSystem"]
        + (hostFolder == nil ? [] : ["PandoMacros"]),
      swiftSettings: librarySettings + (hostFolder == nil ? [] : [.define("PANDO_MACROS")])),
    .target(
      name: "PandoConsistency", dependencies: ["PandoRecords", "PandoModels", "PandoSystem"],
      swiftSettings: librarySettings),
    .target(
      name: "PandoProviders",
      dependencies: [
        "PandoConsistency", "PandoStore", "PandoRecords", "PandoModels", "PandoSystem",
      ],
      swiftSettings: librarySettings),
    .target(
      name: "PandoManagers",
      dependencies: ["PandoProviders", "PandoStore", "PandoRecords", "PandoModels", "PandoSystem"],
      swiftSettings: librarySettings),
    .target(
      name: "PandoReplication",
      dependencies: ["PandoStore", "PandoLMDB", "PandoRecords", "PandoModels", "PandoSystem"],
      swiftSettings: librarySettings),
    .target(
      name: "PandoNATSLog",
      dependencies: [
        "PandoReplication", "PandoSystem",
        .target(name: "CPandoNATS", condition: .when(traits: ["NATS"])),
      ],
      swiftSettings: librarySettings),
    .target(
      name: "PandoPostgreSQLLog",
      dependencies: [
        "PandoReplication", "PandoSystem",
        .target(name: "CPandoPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
      ],
      swiftSettings: librarySettings),
    .target(
      name: "Pando",
      dependencies: [
        "PandoModels", "PandoRecords", "PandoStore", "PandoConsistency", "PandoProviders",
        "PandoManagers",
      ],
      swiftSettings: librarySettings),
    .target(
      name: "PandoRemote",
      dependencies: [
        "PandoManagers", "PandoStore", "PandoLMDB", "PandoRecords", "PandoModels", "PandoSystem",
      ],
      swiftSettings: librarySettings),
    .target(
      name: "PandoURLSession", dependencies: ["PandoRemote", "PandoManagers"],
      swiftSettings: librarySettings),
    .target(
      name: "PandoMetrics",
      dependencies: [
        "PandoReplication", "PandoManagers", "PandoProviders", "PandoConsistency", "PandoStore",
        "PandoSystem",
      ],
      swiftSettings: librarySettings),
    .target(
      name: "PandoTestSupport",
      dependencies: ["PandoRemote", "PandoManagers", "PandoSystem"],
      swiftSettings: librarySettings),
    .executableTarget(
      name: "PandoCommand",
      dependencies: [
        "Pando", "PandoMetrics", "PandoRemote", "PandoManagers", "PandoReplication", "PandoStore",
        "PandoLMDB", "PandoRecords", "PandoModels", "PandoSystem",
        .target(name: "PandoNATSLog", condition: .when(traits: ["NATS"])),
        .target(name: "PandoPostgreSQLLog", condition: .when(traits: ["PostgreSQL"])),
      ],
      swiftSettings: librarySettings),

    // What docs/replication.md shows; nothing of it without the trait NATS.
    .executableTarget(
      name: "shared-list",
      dependencies: [
        .target(name: "Pando", condition: .when(traits: ["NATS"])),
        .target(name: "PandoReplication", condition: .when(traits: ["NATS"])),
        .target(name: "PandoNATSLog", condition: .when(traits: ["NATS"])),
      ],
      path: "docs/examples/replication", exclude: ["run"], swiftSettings: languageSettings),

    .target(
      name: "PandoFixtures",
      dependencies: [
        "PandoStore", "PandoLMDB", "PandoRecords", "PandoModels", "PandoSystem", "CPandoSpawn",
      ],
      path: "Tests/PandoFixtures", swiftSettings: languageSettings),
    .target(
      name: "PandoLogFixtures",
      dependencies: [
        "PandoReplication", "PandoStore", "PandoModels", "PandoSystem", "PandoFixtures",
      ],
      path: "Tests/PandoLogFixtures", swiftSettings: languageSettings),
    .target(name: "CPandoSpawn", path: "Tests/CPandoSpawn"),
    .target(name: "CPandoAllocations", path: "Tests/CPandoAllocations"),
    .target(name: "CPandoFaults", path: "Tests/CPandoFaults"),
    .executableTarget(
      name: "PandoLMDBReadAll", dependencies: ["CPandoLMDB"], path: "Tests/PandoLMDBReadAll",
      swiftSettings: languageSettings),
    .executableTarget(
      name: "PandoLMDBTestProcess", dependencies: ["PandoLMDB", "CPandoFaults"],
      path: "Tests/PandoLMDBTestProcess", swiftSettings: languageSettings),
    .executableTarget(
      name: "PandoStoreTestProcess",
      dependencies: ["PandoStore", "PandoLMDB", "PandoModels", "CPandoFaults"],
      path: "Tests/PandoStoreTestProcess", swiftSettings: languageSettings),
    .executableTarget(
      name: "PandoProvidersTestProcess",
      dependencies: ["PandoProviders", "PandoStore", "PandoLMDB", "PandoModels", "CPandoFaults"],
      path: "Tests/PandoProvidersTestProcess", swiftSettings: languageSettings),
    .executableTarget(
      name: "PandoQueueTestProcess",
      dependencies: [
        "PandoURLSession", "PandoRemote", "PandoManagers", "PandoStore", "PandoModels",
      ],
      path: "Tests/PandoQueueTestProcess", swiftSettings: languageSettings),
    .executableTarget(
      name: "PandoHTTPTestProcess", dependencies: ["PandoFixtures"],
      path: "Tests/PandoHTTPTestProcess", swiftSettings: languageSettings),
    .testTarget(
      name: "PandoFixturesTests", dependencies: ["PandoFixtures", "PandoSystem"],
      swiftSettings: languageSettings),
    .testTarget(
      name: "PandoSystemTests", dependencies: ["PandoSystem", "PandoFixtures"],
      swiftSettings: languageSettings),
    .testTarget(
      name: "PandoLMDBTests",
      dependencies: [
        "PandoLMDB", "CPandoLMDB", "PandoSystem", "PandoFixtures", "CPandoAllocations",
        "PandoLMDBReadAll", "PandoLMDBTestProcess",
      ],
      swiftSettings: languageSettings),
    .testTarget(
      name: "PandoModelsTests", dependencies: ["PandoModels", "PandoFixtures"],
      swiftSettings: languageSettings),
    .testTarget(
      name: "PandoRecordsTests", dependencies: ["PandoRecords", "PandoModels", "PandoFixtures"],
      swiftSettings: languageSettings),
    .testTarget(
      name: "PandoStoreTests",
      dependencies: [
        "PandoStore", "PandoLMDB", "PandoRecords", "PandoModels", "PandoSystem", "PandoFixtures",
        "CPandoAllocations", "PandoStoreTestProcess",
      ],
      exclude: ["Formats/Stores"], swiftSettings: languageSettings),
    .testTarget(
      name: "PandoReplicationTests",
      dependencies: [
        "PandoReplication", "PandoProviders", "PandoMetrics", "PandoStore", "PandoLMDB",
        "PandoRecords", "PandoModels", "PandoSystem", "PandoFixtures",
      ],
      swiftSettings: languageSettings),
    .testTarget(
      name: "PandoNATSLogTests",
      dependencies: [
        "PandoNATSLog", "PandoReplication", "PandoStore", "PandoModels", "PandoSystem",
        "PandoFixtures", "PandoLogFixtures",
        .target(name: "CPandoNATS", condition: .when(traits: ["NATS"])),
      ],
      swiftSettings: languageSettings),
    .testTarget(
      name: "PandoPostgreSQLLogTests",
      dependencies: [
        "PandoPostgreSQLLog", "PandoReplication", "PandoStore", "PandoModels", "PandoSystem",
        "PandoFixtures", "PandoLogFixtures",
      ],
      swiftSettings: languageSettings),
    .testTarget(
      name: "PandoConsistencyTests",
      dependencies: [
        "PandoConsistency", "PandoRecords", "PandoModels", "PandoSystem", "PandoFixtures",
      ],
      swiftSettings: languageSettings),
    .testTarget(
      name: "PandoProvidersTests",
      dependencies: [
        "PandoProviders", "PandoConsistency", "PandoStore", "PandoLMDB", "PandoRecords",
        "PandoModels", "PandoSystem", "PandoFixtures", "PandoStoreTestProcess",
        "PandoProvidersTestProcess",
      ],
      swiftSettings: languageSettings),
    .target(
      name: "PandoManagersFixtures",
      dependencies: [
        "PandoManagers", "PandoRemote", "PandoURLSession", "PandoTestSupport", "PandoStore",
        "PandoLMDB", "PandoModels", "PandoSystem", "PandoFixtures",
      ],
      path: "Tests/PandoManagersFixtures", swiftSettings: languageSettings),
    .testTarget(
      name: "PandoManagersTests",
      dependencies: [
        "PandoManagers", "PandoRemote", "PandoTestSupport", "PandoProviders", "PandoConsistency",
        "PandoStore", "PandoLMDB", "PandoModels", "PandoSystem", "PandoFixtures",
        "PandoManagersFixtures", "PandoStoreTestProcess",
      ],
      swiftSettings: languageSettings),
    .testTarget(
      name: "PandoRemoteTests",
      dependencies: [
        "PandoRemote", "PandoURLSession", "PandoManagers", "PandoTestSupport", "PandoProviders",
        "PandoStore", "PandoModels", "PandoSystem", "PandoFixtures", "PandoManagersFixtures",
        "PandoQueueTestProcess", "PandoHTTPTestProcess",
      ],
      swiftSettings: languageSettings),
    .testTarget(
      name: "PandoURLSessionTests",
      dependencies: [
        "PandoURLSession", "PandoManagers", "PandoStore", "PandoSystem", "PandoFixtures",
        "PandoManagersFixtures", "PandoHTTPTestProcess",
      ],
      swiftSettings: languageSettings),
    .testTarget(
      name: "PandoTestSupportTests",
      dependencies: [
        "PandoTestSupport", "PandoStore", "PandoModels", "PandoManagersFixtures",
      ],
      swiftSettings: languageSettings),
    .testTarget(
      name: "PandoMetricsTests",
      dependencies: [
        "PandoMetrics", "PandoManagers", "PandoProviders", "PandoStore", "PandoLMDB", "PandoModels",
        "PandoSystem", "PandoFixtures",
      ],
      swiftSettings: languageSettings),
    .testTarget(
      name: "PandoTests", dependencies: ["Pando", "PandoFixtures"], exclude: ["Rename"],
      swiftSettings: languageSettings),
    .testTarget(
      name: "PandoCommandTests",
      dependencies: [
        "PandoCommand", "Pando", "PandoRemote", "PandoURLSession", "PandoManagers", "PandoStore",
        "PandoLMDB", "PandoRecords", "PandoModels", "PandoSystem", "PandoFixtures",
      ],
      swiftSettings: languageSettings),
  ]
)

if let hostFolder {
  let hostSettings = languageSettings + [.unsafeFlags(["-I", hostFolder])]
  let hostLinking: [LinkerSetting] = [
    .unsafeFlags(
      ["-L", hostFolder] + hostLibraries.map { "-l\($0)" }
        + ["-Xlinker", "-rpath", "-Xlinker", hostFolder])
  ]
  package.targets += [
    .macro(name: "PandoMacros", swiftSettings: hostSettings, linkerSettings: hostLinking),
    // It has links to the sources of the plugin. If it depended on the plugin, all tests would be
    // built as tools, and the package twice.
    .testTarget(
      name: "PandoMacrosTests", swiftSettings: hostSettings, linkerSettings: hostLinking),
  ]
} else {
  print("pando: this toolchain has no lib/swift/host, so the package builds without @Model")
}

// Swift writes an index of the system's modules again for each test module: a quarter of the time to compile them.
for target in package.targets where target.type == .test {
  target.swiftSettings =
    (target.swiftSettings ?? []) + [
      .unsafeFlags(["-index-ignore-system-modules"])
    ]
}

// A build for some tests alone, as Tests/sanitize makes them: PANDO_TESTS=LMDBTests,ModelCoreTests
// leaves out all that these do not need.
if let names = Context.environment["PANDO_TESTS"] {
  var needed: Set<String> = []
  var rest = names.split(separator: ",").map(String.init)
  while let name = rest.popLast() {
    guard needed.insert(name).inserted else { continue }
    guard let target = package.targets.first(where: { $0.name == name }) else {
      fatalError("PANDO_TESTS: there is no target \(name)")
    }
    for dependency in target.dependencies {
      switch dependency {
      case .byNameItem(let name, _), .targetItem(let name, _): rest.append(name)
      default: break
      }
    }
  }
  package.targets.removeAll { !needed.contains($0.name) }
  package.products.removeAll { $0.name != "pando" || !needed.contains("PandoCommand") }
}
