// swift-tools-version: 6.2
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

let package = Package(
  name: "pando",
  products: [
    .library(name: "Pando", targets: ["Pando"]),
    .library(name: "LMDB", targets: ["LMDB"]),
    .library(name: "PandoTestSupport", targets: ["PandoTestSupport"]),
    .executable(name: "pando", targets: ["PandoCommand"]),
    .executable(name: "inbox", targets: ["inbox"]),
    .executable(name: "library", targets: ["library"]),
  ],
  traits: [
    .trait(
      name: "InternalChecks",
      description: "Checks every invariant after each commit. Makes writes many times slower.")
  ],
  targets: [
    .systemLibrary(
      name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
    .target(name: "Locking", swiftSettings: librarySettings),
    .target(name: "LMDB", dependencies: ["CLMDB", "Locking"], swiftSettings: librarySettings),
    .target(name: "ModelCore", dependencies: ["Locking"], swiftSettings: librarySettings),
    .target(
      name: "StoreEngine", dependencies: ["LMDB", "ModelCore", "Locking"],
      swiftSettings: librarySettings),
    .target(
      name: "Consistency", dependencies: ["ModelCore", "Locking"], swiftSettings: librarySettings),
    .target(
      name: "DataProviders", dependencies: ["Consistency", "StoreEngine", "ModelCore", "Locking"],
      swiftSettings: librarySettings),
    .target(
      name: "CoreManagers",
      dependencies: ["DataProviders", "StoreEngine", "LMDB", "ModelCore", "Locking"],
      swiftSettings: librarySettings),
    .target(
      name: "Pando",
      dependencies: [
        "LMDB", "ModelCore", "StoreEngine", "Consistency", "DataProviders", "CoreManagers",
      ],
      swiftSettings: librarySettings),
    .target(
      name: "PandoTestSupport",
      dependencies: ["CoreManagers", "StoreEngine", "ModelCore", "Locking"],
      swiftSettings: librarySettings),
    .executableTarget(
      name: "PandoCommand", dependencies: ["Pando"], swiftSettings: librarySettings),
    .target(name: "ExampleServer", swiftSettings: librarySettings),
    .executableTarget(
      name: "inbox", dependencies: ["Pando", "ExampleServer"], swiftSettings: librarySettings),
    .executableTarget(
      name: "library", dependencies: ["Pando", "ExampleServer"],
      swiftSettings: librarySettings),

    .target(
      name: "TestSupport", dependencies: ["StoreEngine", "LMDB", "Locking", "CSpawn"],
      path: "Tests/TestSupport", swiftSettings: languageSettings),
    .target(name: "CSpawn", path: "Tests/CSpawn"),
    .target(name: "CAllocations", path: "Tests/CAllocations"),
    .executableTarget(
      name: "LMDBReadAll", dependencies: ["CLMDB"], path: "Tests/LMDBReadAll",
      swiftSettings: languageSettings),
    .target(name: "CFaults", path: "Tests/CFaults"),
    .executableTarget(
      name: "LMDBTestProcess", dependencies: ["LMDB", "CFaults"], path: "Tests/LMDBTestProcess",
      swiftSettings: languageSettings),
    .executableTarget(
      name: "StoreTestProcess", dependencies: ["StoreEngine", "LMDB", "ModelCore", "CFaults"],
      path: "Tests/StoreTestProcess", swiftSettings: languageSettings),
    .executableTarget(
      name: "QueueTestProcess", dependencies: ["CoreManagers", "StoreEngine", "ModelCore"],
      path: "Tests/QueueTestProcess", swiftSettings: languageSettings),
    .testTarget(
      name: "TestSupportTests", dependencies: ["TestSupport"], swiftSettings: languageSettings),
    .testTarget(
      name: "LMDBTests",
      dependencies: [
        "LMDB", "CLMDB", "Locking", "TestSupport", "CAllocations", "LMDBReadAll",
        "LMDBTestProcess",
      ],
      swiftSettings: languageSettings),
    .testTarget(
      name: "ModelCoreTests", dependencies: ["ModelCore", "TestSupport"],
      swiftSettings: languageSettings),
    .testTarget(
      name: "StoreEngineTests",
      dependencies: [
        "StoreEngine", "LMDB", "Locking", "TestSupport", "CAllocations", "StoreTestProcess",
      ],
      swiftSettings: languageSettings),
    .testTarget(
      name: "ConsistencyTests",
      dependencies: ["Consistency", "ModelCore", "Locking", "TestSupport"],
      swiftSettings: languageSettings),
    .testTarget(
      name: "DataProvidersTests",
      dependencies: [
        "DataProviders", "Consistency", "StoreEngine", "LMDB", "ModelCore", "Locking",
        "TestSupport",
        "StoreTestProcess",
      ],
      swiftSettings: languageSettings),
    .testTarget(
      name: "CoreManagersTests",
      dependencies: [
        "CoreManagers", "PandoTestSupport", "DataProviders", "StoreEngine", "ModelCore", "Locking",
        "TestSupport", "LMDB", "StoreTestProcess", "QueueTestProcess",
      ],
      swiftSettings: languageSettings),
    .testTarget(
      name: "PandoTests", dependencies: ["Pando"], swiftSettings: languageSettings),
    .testTarget(
      name: "PandoCommandTests",
      dependencies: ["PandoCommand", "Pando", "Locking", "TestSupport"],
      swiftSettings: languageSettings),
    .testTarget(
      name: "InboxTests", dependencies: ["inbox", "ExampleServer", "Pando", "TestSupport"],
      swiftSettings: languageSettings),
    .testTarget(
      name: "LibraryTests", dependencies: ["library", "TestSupport"],
      swiftSettings: languageSettings),
  ]
)

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
    for case .byNameItem(let name, _) in target.dependencies { rest.append(name) }
  }
  package.targets.removeAll { !needed.contains($0.name) }
  package.products = []
}
