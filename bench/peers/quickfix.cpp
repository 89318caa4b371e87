// QuickFIX as a peer (quickfix.sh): `time` measures setString without validation and reading four fields over batches of
// different messages of one length; `log` writes a log of executions with QuickFIX's own messages and FileLog.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <quickfix/FileLog.h>
#include <quickfix/Message.h>
#include <quickfix/SessionID.h>

namespace {

using Clock = std::chrono::steady_clock;

double nanoseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::nano>(to - from).count();
}

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * (values.size() - 1) + 0.5)];
}

/** The compiler may not leave out what led to this value. */
template <typename T> void keep(const T &value) { asm volatile("" : : "g"(&value) : "memory"); }

std::vector<std::string> messagesOf(const char *path, std::size_t bytes) {
  std::ifstream file(path, std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::string> messages;
  for (std::size_t at = 0; at + bytes <= all.size(); at += bytes) messages.push_back(all.substr(at, bytes));
  return messages;
}

int measure(const char *name, const char *path, std::size_t bytes, int batches, const int (&tags)[4]) {
  const std::vector<std::string> texts = messagesOf(path, bytes);
  if (texts.empty() || batches < 1) return 2;
  FIX::Message message;
  std::vector<double> perMessage, each, fields;
  for (int batch = -1; batch < batches; batch++) {
    const auto from = Clock::now();
    for (const std::string &text : texts) {
      message.setString(text, false);
      keep(message);
    }
    if (batch >= 0) perMessage.push_back(nanoseconds(from, Clock::now()) / texts.size());
  }
  for (const std::string &text : texts) {
    const auto from = Clock::now();
    message.setString(text, false);
    keep(message);
    each.push_back(nanoseconds(from, Clock::now()));
  }
  std::vector<FIX::Message> parsed(texts.size());
  for (std::size_t i = 0; i < texts.size(); i++) parsed[i].setString(texts[i], false);
  for (int batch = -1; batch < std::min(batches, 50); batch++) {
    std::size_t total = 0;
    const auto from = Clock::now();
    for (const FIX::Message &one : parsed)
      for (int tag : tags) total += one.getField(tag).size();
    keep(total);
    if (batch >= 0) fields.push_back(nanoseconds(from, Clock::now()) / parsed.size());
  }
  std::printf("{\"parser\":\"quickfix\",\"message\":\"%s\",\"checked\":false,\"batchNs\":%.1f,\"p50Ns\":%.1f,\"p99Ns\":%.1f,"
              "\"fourFieldsNs\":%.1f}\n",
              name, quantile(perMessage, 0.5), quantile(each, 0.5), quantile(each, 0.99), quantile(fields, 0.5));
  return 0;
}

FIX::Message report(int sequence, const std::string &id, const char *type, const char *reference) {
  FIX::Message message;
  message.getHeader().setField(8, "FIX.4.4");
  message.getHeader().setField(35, "8");
  message.getHeader().setField(34, std::to_string(sequence));
  message.getHeader().setField(49, "VENUE");
  message.getHeader().setField(56, "DESK");
  message.getHeader().setField(52, "20260302-14:30:01.123");
  message.setField(17, id);
  message.setField(37, "O" + id);
  message.setField(150, type);
  if (reference != nullptr) message.setField(19, reference);
  message.setField(31, "10.5");
  message.setField(32, "100");
  message.setField(54, "1");
  message.setField(55, "ABC");
  message.setField(60, "20260302-14:30:01.123");
  message.setField(75, "20260302");
  message.setField(95, "13");
  message.setField(96, std::string("AB\00117=FAKE\001CD", 13));
  FIX::Group party(453, 448, FIX::message_order(448, 447, 452, 0));
  for (const char *role : {"1", "4"}) {
    party.setField(448, std::string("PARTY") + role);
    party.setField(447, "D");
    party.setField(452, role);
    message.addGroup(party);
  }
  return message;
}

/** So many fills, a correction, a bust, and the first fill once more. */
void writeLog(const char *folder, int fills) {
  FIX::FileLog log(folder, FIX::SessionID("FIX.4.4", "VENUE", "DESK"));
  for (int i = 1; i <= fills; i++) log.onIncoming(report(i, "E" + std::to_string(i), "F", nullptr).toString());
  log.onIncoming(report(fills + 1, "C1", "G", "E1").toString());
  log.onOutgoing(report(fills + 2, "B1", "H", "E2").toString());
  log.onIncoming(report(fills + 3, "E3", "F", nullptr).toString());
}

} // namespace

int main(int count, char **arguments) {
  if (count == 4 && !std::strcmp(arguments[1], "log")) {
    writeLog(arguments[2], std::atoi(arguments[3]));
    return 0;
  }
  if (count == 10 && !std::strcmp(arguments[1], "time")) {
    int tags[4];
    for (int i = 0; i < 4; i++) tags[i] = std::atoi(arguments[6 + i]);
    return measure(arguments[2], arguments[3], std::atoi(arguments[4]), std::atoi(arguments[5]), tags);
  }
  std::fprintf(stderr, "time NAME FILE BYTES BATCHES TAG TAG TAG TAG | log FOLDER FILLS\n");
  return 2;
}
