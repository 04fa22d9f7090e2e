import PandoLMDB
import PandoRecords

@testable import PandoStore

extension RowDamage {
  static let ofTypes: [RowDamage] = [
    RowDamage("a short type row", "type Leaf", "its row is malformed") {
      try $0.put([1, 0], Array("Leaf".utf8), in: $1.types)
    },
    RowDamage("a type number given twice", "type Leaf", "its number 2 is taken") {
      try $0.put(little(2, 4) + little(0, 4) + little(2), Array("Leaf".utf8), in: $1.types)
    },
    RowDamage("a type number to come", "type New", "its number 9 is taken or has not been given") {
      try $0.put(little(9, 4) + little(0, 4) + little(0), Array("New".utf8), in: $1.types)
    },
    RowDamage("a wrong count", "type Leaf", "it counts 5 records, there are 2") {
      try $0.put(little(1, 4) + little(0, 4) + little(5), Array("Leaf".utf8), in: $1.types)
    },
    RowDamage("records of no type", "type number 1", "there are records of it but no such type") {
      try $0.remove(Array("Leaf".utf8), in: $1.types)
    },
  ]

  static let ofCollections: [RowDamage] = [
    RowDamage("a missing cache key", "collections", "0 names for 1 keys") {
      try $0.remove(big(1), in: $1.collectionNames)
    },
    RowDamage("a short collection row", "list", "its collection row is malformed") {
      try $0.put([1], Array("list".utf8), in: $1.collections)
    },
    RowDamage("a collection number to come", "other", "its number 8 is taken or has not been") {
      try $0.put(little(8), Array("other".utf8), in: $1.collections)
      try $0.put(Array("other".utf8), big(8), in: $1.collectionNames)
    },
    RowDamage("one number for two keys", "other", "its number leads back to another cache key") {
      try $0.put(little(1), Array("other".utf8), in: $1.collections)
    },
    RowDamage("a damaged list", "list", "list 1, root is damaged: wrong checksum") {
      transaction, tables in
      try edit(big(1) + big(0), in: tables.elements, &transaction) { $0[$0.count - 1] ^= 1 }
    },
    RowDamage("an element of an unknown form", "list", "an element is of an unknown form") {
      _ = try CountedList(table: $1.elements, number: 1).replace(
        at: 1, with: ([9, 9] as [UInt8]).span, in: &$0)
    },
    RowDamage("a cut element", "list", "an element is malformed") {
      _ = try CountedList(table: $1.elements, number: 1).replace(
        at: 0, with: ([1, 1] as [UInt8]).span, in: &$0)
    },
    RowDamage("a value that is no record", "list", "an element can't be read") {
      _ = try CountedList(table: $1.elements, number: 1).replace(
        at: 1, with: ([2, 0x18, 1] as [UInt8]).span, in: &$0)
    },
    RowDamage("an element of no node", "list", "it lists node 66, which does not exist") {
      let element = CollectionElement.node(RecordReference(node: 66, type: 1)).bytes
      _ = try CountedList(table: $1.elements, number: 1).replace(
        at: 0, with: element.span, in: &$0)
    },
    RowDamage("a wrong occurrence count", "list", "the dependency index does not count a 2 times") {
      try $0.put(little(1, 4), edge(1, RecordKey(collection: 1)), in: $1.parents)
    },
    RowDamage("a missing occurrence count", "list", "the dependency index does not count b 1 times")
    { try $0.remove(edge(2, RecordKey(collection: 1)), in: $1.parents) },
    RowDamage("elements of no collection", "collection 5", "it has elements but no cache key") {
      transaction, tables in
      let row = try transaction.value(big(1) + big(0), in: tables.elements)
      try transaction.put(row, big(5) + big(0), in: tables.elements)
    },
    RowDamage("an element key of another size", "elements", "a key has 2 bytes instead of 16") {
      try $0.put([1], [0, 0], in: $1.elements)
    },
  ]

  static let ofCounters: [RowDamage] = [
    RowDamage("no state row", "", "it has no state row") {
      try $0.remove(StoreState.key, in: $1.meta)
    },
    RowDamage("a missing commit in the log", "change log", "commit 2 is missing") {
      try $0.moveNewestChanges(in: $1)
      try $0.remove(big(2), in: $1.changes)
    },
    RowDamage("a log without its end", "change log", "it ends before commit 4, the store is at 4") {
      try $0.moveNewestChanges(in: $1)
      try $0.remove(big(4), in: $1.changes)
    },
    RowDamage("two change sets exchanged", "change log", "commit 3 holds the changes of commit 2") {
      try $0.moveNewestChanges(in: $1)
      let second = try $0.value(big(2), in: $1.changes)
      try $0.put(second, big(3), in: $1.changes)
    },
    RowDamage("a change set that can't be read", "commit 3", "its change set can't be read") {
      try $0.moveNewestChanges(in: $1)
      try $0.put([0xff], big(3), in: $1.changes)
    },
    RowDamage("newest change sets cut short", "change log", "the newest change sets is malformed") {
      let row = try $0.value(NewestChanges.key, in: $1.meta)
      try $0.put(Array(row.dropLast()), NewestChanges.key, in: $1.meta)
    },
    RowDamage("newest change sets of other commits", "change log", "commit 1 is missing") {
      let row = try $0.value(NewestChanges.key, in: $1.meta)
      try $0.put(little(2) + row.dropFirst(8), NewestChanges.key, in: $1.meta)
    },
    RowDamage("newest change sets without a number", "change log", "is malformed") {
      try $0.put([1], NewestChanges.key, in: $1.meta)
    },
  ]
}
