"""Words of the demo organisation: areas, project names, people. No person is meant."""

AREAS = {
    "language": "Language models",
    "vision": "Vision and video",
    "science": "AI for science",
    "speech": "Speech and audio",
    "robotics": "Robotics and control",
    "systems": "Training systems",
    "health": "Health and medicine",
    "safety": "Safety and evaluation",
}
TOPICS = {
    "language": ("Long-document", "Code", "Low-resource", "Mixture-of-experts", "Retrieval-augmented", "Instruction"),
    "vision": ("Video", "Remote-sensing", "Open-vocabulary", "3D-scene", "Document-image", "Few-shot"),
    "science": ("Protein", "Crystal-structure", "Climate", "Turbulence", "Reaction-path", "Galaxy-survey"),
    "speech": ("Streaming", "Far-field", "Multilingual speech", "Singing-voice", "Speaker", "Sound-event"),
    "robotics": ("Bimanual", "Legged", "Warehouse", "Sim-to-real", "Tactile", "Surgical"),
    "systems": ("Sequence-parallel", "FP8", "Fault-tolerant", "Elastic", "Communication-avoiding", "Compiler-driven"),
    "health": ("Radiology", "Pathology-slide", "Clinical-note", "Genome", "ECG", "Drug-interaction"),
    "safety": ("Jailbreak", "Hallucination", "Privacy", "Bias", "Watermark", "Interpretability"),
}
OBJECTS = {
    "language": ("pretraining", "alignment", "summariser", "tutor", "translator", "reasoner", "tokeniser study"),
    "vision": ("segmentation", "generation", "retrieval", "tracker", "captioning", "super-resolution"),
    "science": ("emulator", "generator", "surrogate model", "foundation model", "inverse design", "uncertainty study"),
    "speech": ("recogniser", "synthesis", "diarisation", "enhancement", "codec", "dubbing"),
    "robotics": ("policy", "world model", "grasping", "navigation", "imitation data", "planner"),
    "systems": ("training", "checkpointing", "kernels", "pipeline", "profiler", "optimiser"),
    "health": ("triage", "reporting", "classifier", "search", "risk model", "foundation model"),
    "safety": ("benchmark", "red team", "probe", "filter", "audit", "guard model"),
}
CHINESE = {
    "language": ("长文本大模型预训练", "古籍自动校勘", "方言机器翻译", "法律问答模型"),
    "vision": ("遥感影像变化检测", "视频生成扩散模型", "工业缺陷检测", "手写公式识别"),
    "science": ("晶体结构生成", "湍流神经算子", "台风路径集合预报", "分子反应路径搜索"),
    "speech": ("方言语音识别", "低延迟语音合成", "会议说话人分离", "歌声合成"),
    "robotics": ("双臂协同操作", "四足机器人越障", "仓储调度策略", "触觉抓取"),
    "systems": ("大规模训练容错", "低精度训练稳定性", "通信重叠优化", "算子自动生成"),
    "health": ("胸片智能分诊", "病理切片基础模型", "基因变异解读", "慢病风险预测"),
    "safety": ("大模型幻觉评测", "隐私泄露检测", "有害内容过滤", "模型可解释性"),
}
LONG = (
    " for small laboratories that share one machine room and must agree on who runs when",
    " with results that a second group reproduces from the recipe alone before anything is published",
    " across six institutes, with one data agreement and a common evaluation",
)
GOAL = "Show on held-out data that {name} is better than the present baseline, and write down how."
MILESTONES = ("Baseline reproduced", "Ablations done", "First full run", "External evaluation", "Report and hand-over")
LAST_MILESTONES = ("Second full run", "Results repeated by another group", "Next phase agreed")
SHOWCASE = "Multilingual foundation model"
"""The project of the accounts ``lead`` and ``researcher`` on the simulated nodes."""
SHOWCASE_GOAL = "One model for forty languages, trained from scratch, at the quality of the best for each of them."
GIVEN = (
    "Ada", "Amir", "Beatriz", "Chidi", "Elena", "Fatima", "Georg", "Hana", "Ines", "Jonas", "Kofi", "Lucia", "Marek",
    "Nadia", "Oskar", "Priya", "Ravi", "Sofia", "Tomas", "Yusuf",
)  # fmt: skip
FAMILY = (
    "Adeyemi", "Bauer", "Costa", "Dubois", "Eriksen", "Farkas", "Gupta", "Haddad", "Ivanova", "Jensen", "Kowalski",
    "Lindgren", "Moreau", "Nakamura", "Okoye", "Petrov", "Rossi", "Silva", "Tanaka", "Weber",
)  # fmt: skip
CHINESE_PEOPLE = {
    "zhang.min": "张敏", "wang.lei": "王磊", "li.na": "李娜", "liu.yang": "刘洋", "chen.jie": "陈杰",
    "yang.fan": "杨帆", "zhao.lin": "赵琳", "huang.bo": "黄博", "zhou.ting": "周婷", "wu.hao": "吴昊",
    "xu.jing": "徐静", "sun.peng": "孙鹏", "ma.chao": "马超", "zhu.xi": "朱曦", "hu.yue": "胡月",
    "guo.rui": "郭睿", "he.miao": "何淼", "lin.tao": "林涛", "gao.yuan": "高原", "luo.qi": "罗琪",
}  # fmt: skip
