// swift-tools-version: 6.2
import PackageDescription

// A service of somebody else's, with targets called as Pando's might be: SwiftPM refuses a package
// graph in which two targets have one name. `Tests/client` builds it and says what it weighs.

let names = [
  "Locking", "LMDB", "library", "inbox", "Consistency", "ModelCore", "StoreEngine",
  "DataProviders", "CoreManagers", "Environment", "TestSupport", "ExampleServer",
]

let package = Package(
  name: "client",
  dependencies: [.package(name: "pando", path: "../..")],
  targets: names.map { .target(name: $0, path: "Sources/Own/\($0)") } + [
    .executableTarget(
      name: "Service",
      dependencies: [.product(name: "Pando", package: "pando")]
        + names.map { .target(name: $0) },
      swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")]),
    .executableTarget(name: "JSONAlone"),
  ]
)
