import Foundation
import Glibc
import PandoFixtures
import Testing

@Suite struct ChildProcessTests {
  private func shell(_ line: String) throws -> ChildProcess {
    try ChildProcess("/bin/sh", ["-c", line])
  }

  @Test func `a run gives what was printed and the status`() throws {
    let run = try ChildProcess.run(
      "/bin/sh", ["-c", #"cat; echo "$0 $X"; pwd; echo oh >&2; exit 3"#, "a b"],
      environment: ["X": "ü"], directory: "/proc", input: "in\n")
    #expect(run.status == 3)
    #expect(run.lines == ["in", "a b ü", "/proc"])
    #expect(run.errors == "oh\n")
  }

  @Test func `more than a pipe holds comes and goes`() throws {
    let input = String(repeating: "0123456789\n", count: 100_000)
    #expect(try ChildProcess.run("/bin/cat", input: input).output == input)
  }

  @Test func `lines go in and come out`() throws {
    let process = try ChildProcess("/bin/cat")
    for line in ["a", "", "ü"] {
      try process.write("\(line)\n")
      #expect(process.nextLine() == line)
    }
    try process.write("without an end")
    #expect(!process.hasEnded)
    process.closeInput()
    #expect(process.nextLine() == "without an end")
    #expect(process.nextLine() == nil)
    #expect(process.wait() == 0)
    #expect(process.hasEnded)
  }

  @Test(arguments: [SIGTERM, SIGINT, SIGPIPE, SIGKILL])
  func `a signal ends it and is its status`(signal: Int32) throws {
    let process = try shell("echo here; read line")
    #expect(process.nextLine() == "here")
    process.send(signal)
    #expect(process.wait() == -signal)
    // Nobody is there any more who could get it.
    process.send(signal)
  }

  @Test func `a stopped process continues after SIGCONT`() throws {
    let process = try shell("echo $$; read line; echo $line")
    let number = try #require(process.nextLine())
    process.send(SIGSTOP)
    let status = "/proc/\(number)/stat"
    while try !String(contentsOfFile: status, encoding: .utf8).contains(") T ") {}
    try process.write("further\n")
    process.send(SIGCONT)
    #expect(process.nextLine() == "further")
    #expect(process.wait() == 0)
  }

  @Test func `a process ends with the last reference to it`() throws {
    let reader = try ChildProcess("/bin/cat")
    try reader.write("a\n")
    #expect(reader.nextLine() == "a")
    var number: pid_t = 0
    do {
      let process = try shell("echo $$; read line")
      number = try #require(process.nextLine().flatMap { pid_t($0) })
      #expect(kill(number, 0) == 0)
    }
    while kill(number, 0) == 0 {}
    #expect(errno == ESRCH)
    #expect(!reader.hasEnded)
  }

  @Test func `a child process inherits three descriptors`() throws {
    // Two that could be inherited, and the pipes of another process.
    let open = [dup(STDOUT_FILENO), dup(STDOUT_FILENO)]
    defer { for descriptor in open { close(descriptor) } }
    let other = try ChildProcess("/bin/cat")
    // `ls` has the directory itself open besides.
    #expect(try ChildProcess.run("/bin/ls", ["/proc/self/fd"]).lines == ["0", "1", "2", "3"])
    other.closeInput()
    #expect(other.wait() == 0)
  }

  @Test func `writing to a process that does not read is an error`() throws {
    let process = try shell("exit 0")
    process.wait()
    // Another test that starts a program at this moment holds all descriptors until that has begun.
    let failure = #expect(throws: ChildProcess.Failure.self) {
      while true { try process.write("x") }
    }
    #expect(failure?.code == EPIPE)
    process.closeInput()
    #expect(throws: ChildProcess.Failure.self) { try process.write("x") }
  }

  @Test func `a program that is not there is an error`() throws {
    let failure = #expect(throws: ChildProcess.Failure.self) { try ChildProcess.run("/no/such") }
    #expect(failure?.code == ENOENT)
    #expect(throws: ChildProcess.Failure.self) { try ChildProcess("NoSuchProgram") }
  }
}
