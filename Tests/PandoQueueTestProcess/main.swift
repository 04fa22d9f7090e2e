// The process of the queue tests that is killed: `QueueTestProcess FOLDER PORT ACTION [STEP NUMBER]`.
// ACTION `write` sets three entities, each with its request in one transaction; `change` changes one twice
// and removes another; `drain` sends what is left. With a step the process kills itself when it comes to that step for the nth time.

import Foundation
import PandoManagers
import PandoModels
import PandoStore
import PandoURLSession

/// A book, as the tests know it.
struct Volume: PersistentEntity, MutableEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Volume>
  var title: String
  var edition: Int?

  static let endpoint: APIPath = "/volumes"

  func withIdentifier(_ id: EntityIdentifier<Volume>) -> Volume {
    Volume(id: id, title: title, edition: edition)
  }
}

/// Kills the process at a step.
actor Killer {
  private let step: String
  private var remaining: Int

  init(step: String, number: Int) {
    self.step = step
    remaining = number
  }

  func pass(_ name: String) {
    guard name == step else { return }
    remaining -= 1
    guard remaining == 0 else { return }
    kill(getpid(), SIGKILL)
    // The signal may need a moment; nothing may happen meanwhile.
    while true { pause() }
  }
}

let arguments = CommandLine.arguments
guard arguments.count >= 4, let url = URL(string: "http://127.0.0.1:\(arguments[2])") else {
  exit(2)
}
let killer = Killer(
  step: arguments.count > 5 ? arguments[4] : "",
  number: arguments.count > 5 ? Int(arguments[5]) ?? 1 : 0)
let store = try ModelStore(path: arguments[1])
var configuration = QueueConfiguration()
// Nothing is sent before everything is written.
let (written, hasWritten) = AsyncStream<Void>.makeStream()
let writing = Task { for await _ in written {} }
configuration.onStep = { step in
  await writing.value
  await killer.pass(step.rawValue)
}
let (ended, hasEnded) = AsyncStream<Void>.makeStream()
configuration.onEvent = { event in
  switch event {
  case .confirmed, .failed: hasEnded.yield()
  default: break
  }
}
// The server answers or closes the connection; how long that takes says nothing.
var clientConfiguration = URLSessionAPIClient.Configuration()
clientConfiguration.timeoutInSeconds = 1_000_000
clientConfiguration.headers = ["Accept": "application/json", "Test-Action": "\(arguments[3])"]
let queue = APIClientQueue.open(
  for: store, client: URLSessionAPIClient(baseURL: url, configuration: clientConfiguration),
  configuration: configuration)
let remote = RemoteStore<Volume>(clientQueue: queue)

func set(_ volume: Volume) async throws {
  let write = try remote.request(toSet: [volume], in: .localAndRemote)
  try await store.write { transaction in
    _ = try transaction.apply([volume], asOf: nil)
    try write.enqueue(&transaction)
  }
  await killer.pass("queued")
  // Killed at a later step, the process has written everything by then.
  if arguments.count > 5, arguments[4] == "queued" { write.committed() }
}

/// Changes a volume twice and removes another one, as a service does.
func change() async throws {
  let container = try CoreManagerContainer(
    entities: Volume.self, client: queue.client, diskStoreConfig: .store(store))
  let volumes = container[Volume.self]
  try await volumes.updateIfPresent(byID: .remote(7), in: .localAndRemote) { $0.title = "Refused" }
  await killer.pass("queued")
  try await volumes.updateIfPresent(byID: .remote(7), in: .localAndRemote) { $0.edition = 2 }
  await killer.pass("queued")
  try await volumes.remove(atID: .remote(8), in: .localAndRemote)
  await killer.pass("queued")
}

if arguments[3] == "write" {
  try await set(Volume(id: .local("v"), title: "Dune"))
  try await set(Volume(id: .local("v"), title: "Dune Messiah"))
  try await set(Volume(id: .local("w"), title: "Emma"))
}
if arguments[3] == "change" { try await change() }
hasWritten.finish()
queue.start()
func hasEndedAll() throws -> Bool { try queue.requests().allSatisfy { $0.state == .failed } }
if try !hasEndedAll() { for await _ in ended where try hasEndedAll() { break } }
print("rows: \(try queue.requests().count)")
await queue.close()
store.close()
