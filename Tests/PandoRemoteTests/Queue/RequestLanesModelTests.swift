import PandoFixtures
import PandoModels
import Testing

@testable import PandoManagers
@testable import PandoManagersFixtures
@testable import PandoRemote

/// The lines of requests, compared with what their names say, for calls in any order.
@Suite struct RequestLanesModelTests {
  private struct Request {
    var order: UInt64
    var claims: [LaneClaim]
    var isTaken = false
    /// Whether it has been on its way before: then it goes first again.
    var wasTaken = false
  }

  /// Names that have become one, by their first one.
  private struct Names {
    var owners: [String: String] = [:]

    func owner(_ name: String) -> String { owners[name].map(owner) ?? name }

    /// Whether two requests may not be on their way at the same time.
    func conflict(_ left: Request, _ right: Request) -> Bool {
      left.claims.contains { mine in
        right.claims.contains { theirs in
          owner(mine.name.text) == owner(theirs.name.text) && !(mine.isShared && theirs.isShared)
        }
      }
    }
  }

  @Test(arguments: 1...200 as ClosedRange<UInt64>)
  func `no request overtakes, and none waits for ever`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var (lanes, names, live) = (RequestLanes(), Names(), [UInt64: Request]())
    var next: UInt64 = 1
    func claims(_ random: inout SeededGenerator, shared: Bool) -> [LaneClaim] {
      // What is renamed is called by its new name from then on.
      var all = ["a", "b", "c", "d", "e", "f"].filter { names.owners[$0] == nil }
        .shuffled(using: &random)
      return (0..<Int.random(in: 1...min(3, all.count), using: &random)).map { index in
        LaneClaim(all.removeLast(), isShared: shared || index > 0)
      }
    }
    func taken(_ number: UInt64) throws {
      let request = try #require(live[number])
      #expect(!request.isTaken)
      for (other, earlier) in live where other != number && names.conflict(request, earlier) {
        #expect(!earlier.isTaken, "\(number) goes beside \(other)")
        #expect(
          request.wasTaken || earlier.order > request.order, "\(number) overtakes \(other)")
      }
      live[number]?.isTaken = true
    }
    for _ in 0..<120 {
      switch Int.random(in: 0..<12, using: &random) {
      case 0...3:
        let claims = claims(&random, shared: false)
        lanes.add(next, order: 2 * next, claims)
        live[next] = Request(order: 2 * next, claims: claims)
        next += 1
      case 4:
        // One that only reads may come after writes that it stands before.
        let limit = UInt64.random(in: max(1, next - min(next - 1, 4))...next, using: &random)
        let (number, claims) = (RequestLanes.firstRead | next, claims(&random, shared: true))
        lanes.add(number, order: 2 * limit - 1, claims)
        live[number] = Request(order: 2 * limit - 1, claims: claims)
        next += 1
      case 5...7: if let number = lanes.take() { try taken(number) }
      case 8: for number in lanes.takeReads() { try taken(number) }
      case 9:
        guard let number = live.keys.sorted().randomElement(using: &random) else { continue }
        lanes.finish(number)
        live[number] = nil
      case 10:
        let ready = live.filter { $0.key < RequestLanes.firstRead && $0.value.isTaken }.keys
        guard let number = ready.sorted().randomElement(using: &random) else { continue }
        lanes.putBack(number)
        live[number]?.isTaken = false
        live[number]?.wasTaken = true
      default:
        let two = ["a", "b", "c", "d", "e", "f"].shuffled(using: &random).prefix(2)
          .map(names.owner)
        guard Int.random(in: 0..<4, using: &random) == 0, two[0] != two[1]
        else { continue }
        let gone = live.values.filter { $0.isTaken || $0.wasTaken }
        lanes.rename(two[0], to: two[1])
        names.owners[two[0]] = two[1]
        // What is on its way stays there, or was: these are left out of what is compared.
        if gone.contains(where: { one in
          gone.contains { $0.order != one.order && names.conflict($0, one) }
        }) {
          for (number, request) in live where request.isTaken || request.wasTaken {
            lanes.finish(number)
            live[number] = nil
          }
        }
      }
    }
    while true {
      if let number = live.first(where: { $0.value.isTaken })?.key {
        lanes.finish(number)
        live[number] = nil
        continue
      }
      if let number = lanes.take() {
        try taken(number)
      } else {
        let reads = lanes.takeReads()
        for number in reads { try taken(number) }
        if reads.isEmpty { break }
      }
    }
    #expect(live.isEmpty, "\(live.count) wait for ever")
    #expect(lanes.isEmpty)
  }
}
