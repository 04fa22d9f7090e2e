// swift-tools-version: 6.2
import PackageDescription

// Four services to learn from, a package of its own as yours would be: `inbox`, `library`, `board`
// and `shop`. The README beside this file says what they show. Run them with `swift run --package-path docs/examples inbox`.

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

let testSettings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableExperimentalFeature("Lifetimes"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "pando-examples",
  dependencies: [.package(name: "pando", path: "../..")],
  targets: [
    // An HTTP server in the manner of Swift, on the one that Debian has.
    .systemLibrary(
      name: "CMicroHTTP", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    .target(name: "MicroHTTP", dependencies: ["CMicroHTTP"], swiftSettings: settings),

    .executableTarget(
      name: "inbox",
      dependencies: [
        "MicroHTTP", .product(name: "Pando", package: "pando"),
        .product(name: "PandoMetrics", package: "pando"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "library",
      dependencies: [
        "MicroHTTP", .product(name: "Pando", package: "pando"),
        .product(name: "PandoURLSession", package: "pando"),
      ],
      swiftSettings: settings),

    .executableTarget(
      name: "board",
      dependencies: ["MicroHTTP", .product(name: "Pando", package: "pando")],
      swiftSettings: settings),

    .executableTarget(
      name: "shop",
      dependencies: [
        "MicroHTTP",
        .product(name: "Pando", package: "pando"), .product(name: "PandoMetrics", package: "pando"),
      ],
      swiftSettings: settings),

    // The helpers of Pando's own tests, in links to its folders.
    .target(name: "CPandoSpawn", path: "Tests/CPandoSpawn"),
    .target(
      name: "PandoFixtures",
      dependencies: [
        "CPandoSpawn", .product(name: "PandoStore", package: "pando"),
        .product(name: "PandoLMDB", package: "pando"),
      ],
      path: "Tests/PandoFixtures", swiftSettings: testSettings),
    // The helpers of the services' tests.
    .target(
      name: "ServiceFixtures", dependencies: ["PandoFixtures"], path: "Tests/ServiceFixtures",
      swiftSettings: testSettings),
    .testTarget(
      name: "MicroHTTPTests", dependencies: ["MicroHTTP", "PandoFixtures"],
      swiftSettings: testSettings),
    .testTarget(
      name: "InboxTests",
      dependencies: [
        "inbox", "PandoFixtures", "ServiceFixtures", .product(name: "Pando", package: "pando"),
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "BoardTests",
      dependencies: [
        "board", "MicroHTTP", "PandoFixtures", "ServiceFixtures",
        .product(name: "Pando", package: "pando"),
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "ShopTests",
      dependencies: [
        "shop", "MicroHTTP", "PandoFixtures", "ServiceFixtures",
        .product(name: "Pando", package: "pando"),
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "LibraryTests", dependencies: ["library", "PandoFixtures", "ServiceFixtures"],
      swiftSettings: testSettings),
  ]
)
