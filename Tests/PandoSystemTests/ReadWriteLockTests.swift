import Testing

@testable import PandoSystem

@Suite struct ReadWriteLockTests {
  @Test func `writing if free runs only while no thread holds the lock`() {
    let lock = ReadWriteLock()
    #expect(lock.writingIfFree { 7 } == 7)
    // The first call has given the lock back.
    #expect(lock.writingIfFree { 8 } == 8)
    #expect(lock.reading { lock.writingIfFree { 9 } } == nil)
    #expect(lock.writing { lock.writingIfFree { 10 } } == nil)
  }
}
