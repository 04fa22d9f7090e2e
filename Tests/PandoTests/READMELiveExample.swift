import Pando

func showOnePerson(in store: ModelStore) async throws -> (Message?, [Person]) {
  let manager = try DataModelManager(store: store)
  let message = DataProvider<Message>(dataModelManager: manager)
  let contacts = CollectionDataProvider<Person>(dataModelManager: manager)
  try await message.fetchDataFromCache(withCacheKey: "Message:34")

  let ada = Person(id: 12, name: "Ada", isOnline: true)
  contacts.setData([ada], cacheKey: "contacts")  // visible now; Pando writes it in the background
  try await contacts.update(Person(id: 12, name: "Ada L.", isOnline: true), at: 0).committed()
  await manager.close()
  return (message.data, contacts.data)  // the message's author is Ada L. too
}
